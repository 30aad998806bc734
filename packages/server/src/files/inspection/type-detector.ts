import { Worker } from "node:worker_threads";
import type { Sample } from "./detect-type.ts";
import type { TypeProblem } from "./judge-type.ts";

export interface TypeQuestion extends Sample {
  declared: string;
  allowedTypes: string[];
}

export interface TypeVerdict {
  detected: string | null;
  problem: TypeProblem | null;
}

export type TypeOrder = Omit<TypeQuestion, "head" | "directory"> & {
  id: number;
  head: Uint8Array;
  directory: Uint8Array | null;
};
export type TypeReply = TypeVerdict & { id: number };

export interface TypeDetector {
  /** Null if the bytes kept the thread busy for too long, or broke it. */
  judge(question: TypeQuestion): Promise<TypeVerdict | null>;
  close(): Promise<void>;
}

const workerFile = new URL("./type-worker.ts", import.meta.url);
const threadFlags = ["--disable-warning=ExperimentalWarning"];
const memory = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 };
/** Judging takes a millisecond; the rest is for a machine that is busy, and for the thread to start. */
const defaultDeadlineMs = 15_000;

/** Examines bytes in a separate thread, started on first use and replaced after a file that it could not finish. */
export function createTypeDetector(deadlineMs = defaultDeadlineMs, file = workerFile): TypeDetector {
  let thread: Worker | null = null;
  let lastId = 0;
  let turn: Promise<unknown> = Promise.resolve();

  function start(): Worker {
    const worker = new Worker(file, { execArgv: threadFlags, env: {}, resourceLimits: memory });
    worker.unref();
    return worker;
  }

  async function askThread(question: TypeQuestion): Promise<TypeVerdict | null> {
    const worker = thread ?? start();
    thread = worker;
    const id = ++lastId;
    const answer = Promise.withResolvers<TypeVerdict | null>();
    const onMessage = (reply: TypeReply) => {
      if (reply.id === id) answer.resolve({ detected: reply.detected, problem: reply.problem });
    };
    const giveUp = () => answer.resolve(null);
    const timer = setTimeout(giveUp, deadlineMs);
    worker.on("message", onMessage).on("error", giveUp).on("exit", giveUp);
    worker.postMessage({ ...question, id } satisfies TypeOrder);
    const verdict = await answer.promise;
    clearTimeout(timer);
    worker.off("message", onMessage).off("exit", giveUp);
    if (verdict === null) {
      thread = null;
      await worker.terminate();
    }
    // Kept after a failure: an error without a listener would end the process.
    if (verdict !== null) worker.off("error", giveUp);
    return verdict;
  }

  return {
    judge(question) {
      // One after another, so that the deadline of each is its own.
      const verdict = turn.then(() => askThread(question));
      turn = verdict.catch(() => {});
      return verdict;
    },
    async close() {
      await thread?.terminate();
      thread = null;
    },
  };
}
