import { performance } from "node:perf_hooks";
import type { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";

export interface Checkpoints {
  /** Call it after every commit, with the number of transactions that shared it. */
  count(transactions: number): void;
  close(): Promise<void>;
}

const transactionsApart = 256;
/** If this many take longer, checkpoints are too rare to be worth a thread. */
const loadWithinMs = 1000;
/** How far the log grows before the engine copies it during a commit: by default, and with a thread. */
const pagesAlone = 1000;
const pagesWithThread = 4000;

const threadFile = new URL("./checkpoint-thread.mjs", import.meta.url);
const threadFlags = ["--disable-warning=ExperimentalWarning"];

/**
 * The engine copies its log into the database file during the commit that makes the log too long, and every writer
 * waits for the copy and its fsyncs. Under load, a thread copies in parallel to the commits. The engine still does
 * its part, because the log restarts only when a commit finds all of it copied; by then little is left to copy.
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
      // Done last, because listening would keep the process alive again.
      worker.unref();
      setPages(pagesWithThread);
      return worker;
    } catch {
      // No more threads are available or allowed.
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
