import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Outcome, Scenario } from "./scenario.ts";

/** What the thread is started with. */
export interface Task {
  /** The module of the scenario, and what it exports it as. */
  module: string;
  name: string;
  rounds: number;
  seed: number;
}

/** What it says: how far it is, now and then, and at last what came out. */
export type Report = { rounds: number; counts: Record<string, number> } | { outcome: Outcome };

const lookEveryMs = 200;

/** Runs a scenario that keeps its service in this process in a thread of its own, so that lanes use several cores. */
export function inThread(module: URL, name: string): Scenario {
  return async ({ rounds, random, isTimeUp, onRound }) => {
    const task: Task = { module: module.href, name, rounds, seed: random.int(0, 2 ** 31 - 1) };
    const worker = new Worker(new URL("thread.ts", import.meta.url), { workerData: task });
    let outcome: Outcome | null = null;
    worker.on("message", (report: Report) => {
      if ("outcome" in report) outcome = report.outcome;
      else for (let i = 0; i < report.rounds; i++) onRound(1, report.counts);
    });
    const timer = setInterval(() => {
      if (isTimeUp()) worker.postMessage("time is up");
    }, lookEveryMs);
    try {
      // An error in the thread is thrown here.
      await once(worker, "exit");
    } finally {
      clearInterval(timer);
    }
    if (outcome === null) throw new Error(`the thread of ${name} ended without a result`);
    return outcome;
  };
}
