import { setImmediate as nextTurn } from "node:timers/promises";
import { SEARCHES_WAITING_MAX } from "@upstow/contract";
import { AppError } from "../../../errors.ts";

/**
 * Lets one search at a time read one stretch of rows, then gives everything else a turn of the event loop. SQLite
 * runs on our thread, so without this, parallel searches would add up to one long stall.
 */
export interface SearchTurns {
  /** Runs `work` when the account's turn comes. Accounts alternate, however many searches each has waiting. */
  take<T>(accountId: string, work: () => Promise<T>): Promise<T>;
  /** Throws when the account already has too many searches waiting. */
  admit(accountId: string): void;
}

export function createSearchTurns(): SearchTurns {
  const waiting = new Map<string, (() => Promise<void>)[]>();
  let isRunning = false;

  /** A map keeps insertion order: the account at the front goes, and joins the end if it has more. */
  function pickNext(): (() => Promise<void>) | undefined {
    const [front] = waiting;
    if (front === undefined) return undefined;
    const [accountId, queue] = front;
    const next = queue.shift();
    waiting.delete(accountId);
    if (queue.length > 0) waiting.set(accountId, queue);
    return next;
  }

  async function runAll(): Promise<void> {
    isRunning = true;
    for (let work = pickNext(); work !== undefined; work = pickNext()) {
      await work();
      await nextTurn();
    }
    isRunning = false;
  }

  return {
    take: (accountId, work) =>
      new Promise((resolve, reject) => {
        const queue = waiting.get(accountId) ?? [];
        queue.push(() => work().then(resolve, reject));
        waiting.set(accountId, queue);
        if (!isRunning) void runAll();
      }),
    admit(accountId) {
      if ((waiting.get(accountId)?.length ?? 0) < SEARCHES_WAITING_MAX) return;
      throw new AppError("RATE_LIMITED", "Too many searches at once. Retry after 5 seconds.", {
        suggestion: "Wait for the searches that are running.",
        headers: { "retry-after": "5" },
      });
    },
  };
}
