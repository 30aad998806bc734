import { performance } from "node:perf_hooks";
import type { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";

export interface Checkpoints {
  /** To be called after every commit, with the number of transactions that shared it. */
  count(transactions: number): void;
  close(): Promise<void>;
}

const transactionsApart = 256;
/** Where so many take longer than this, nobody waits for checkpoints often enough to be worth a thread. */
const loadWithinMs = 1000;
/** How long the log grows before the engine copies it within a commit: by default, and where a thread comes first. */
const pagesAlone = 1000;
const pagesWithThread = 4000;

const threadFile = new URL("./checkpoint-thread.mjs", import.meta.url);
const threadFlags = ["--disable-warning=ExperimentalWarning"];

/**
 * The engine copies its log into the database file within the commit that makes the log long, and everybody waits for
 * the copy and its fsyncs. Under load a thread copies beside the commits. The engine still has its turn, because a log
 * begins anew only when a commit finds all of it copied; little is left to copy then.
 */
export function createCheckpoints(
  writer: DatabaseSync,
  now: () => number = () => performance.now(),
): Checkpoints {
  const path = writer.location();
  let thread: Worker | null = null;
  let canHaveThread = path !== null;
  let isCopying = false;
  let transactions = 0;
  let countedSince = now();

  const setPages = (pages: number) => writer.exec(`PRAGMA wal_autocheckpoint = ${pages}`);

  function doWithout(): null {
    canHaveThread = false;
    setPages(pagesAlone);
    return null;
  }

  function startThread(): Worker | null {
    try {
      const worker = new Worker(threadFile, { workerData: path, execArgv: threadFlags, env: {} });
      worker.on("message", () => {
        isCopying = false;
      });
      worker.on("error", () => {
        thread = doWithout();
      });
      // Last: listening would hold the process again.
      worker.unref();
      setPages(pagesWithThread);
      return worker;
    } catch {
      // No more threads are to be had, or allowed.
      return doWithout();
    }
  }

  return {
    count(more) {
      transactions += more;
      if (transactions < transactionsApart) return;
      const isLoad = now() - countedSince < loadWithinMs;
      transactions = 0;
      countedSince = now();
      if (isLoad && canHaveThread) thread ??= startThread();
      if (thread === null || isCopying) return;
      isCopying = true;
      thread.postMessage("copy");
    },
    async close() {
      await thread?.terminate();
    },
  };
}
