import { setImmediate as nextTurn } from "node:timers/promises";

/** Rows that one statement of housekeeping changes: a few milliseconds of the one writer that SQLite has. */
export const STEP_ROWS = 500;

/** Repeats a statement that changes at most `STEP_ROWS` rows until it finds fewer. Others work in between. */
export async function inSteps(step: (take: number) => Promise<number>, signal?: AbortSignal): Promise<void> {
  while (signal?.aborted !== true) {
    if ((await step(STEP_ROWS)) < STEP_ROWS) return;
    await nextTurn();
  }
}
