import { setTimeout as wait } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import { DatabaseReadOnly } from "./db/database.ts";

export interface Background {
  /** Repeats `work`, never two at a time, until closed. A failure is logged and the next turn tries again. */
  every(intervalMs: number, name: string, work: (signal: AbortSignal) => Promise<unknown>): void;
  /** Lets what runs finish. */
  close(): Promise<void>;
}

/** Turns are left out while `isResting`. */
export function createBackground(log: FastifyBaseLogger, isResting: () => boolean = () => false): Background {
  const closing = new AbortController();
  const loops: Promise<void>[] = [];

  async function attempt(name: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!closing.signal.aborted && !(error instanceof DatabaseReadOnly))
        log.error({ err: error, job: name }, "background work failed");
    }
  }

  async function repeat(intervalMs: number, name: string, work: (signal: AbortSignal) => Promise<unknown>) {
    while (!closing.signal.aborted) {
      // A spread of a tenth keeps several instances from doing the same at the same moment.
      const pauseMs = intervalMs * (0.95 + Math.random() / 10);
      await wait(pauseMs, undefined, { signal: closing.signal, ref: false }).catch(() => {});
      if (closing.signal.aborted) return;
      if (!isResting()) await attempt(name, () => work(closing.signal));
    }
  }

  return {
    every(intervalMs, name, work) {
      loops.push(repeat(intervalMs, name, work));
    },
    async close() {
      closing.abort();
      await Promise.all(loops);
    },
  };
}
