import { setImmediate as nextTurn } from "node:timers/promises";
import { SEARCHES_WAITING_MAX } from "@upstow/contract";
import { AppError } from "./errors.ts";

/**
 * Decides whose step of long work runs next: one step at a time across all accounts, and a turn of the event loop for
 * everything else after each. Without this, work that yields but runs in parallel still adds up to one long stall.
 * `limitLargeRequests` bounds how many whole requests an account has under way.
 */
export interface FairTurns {
  /** Runs one step when the account's turn comes. Accounts alternate, however many steps each has waiting. */
  take<T>(accountId: string, step: () => Promise<T>): Promise<T>;
  /** The number of the account's waiting steps. */
  waitingOf(accountId: string): number;
}

export function createFairTurns(): FairTurns {
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
    for (let step = pickNext(); step !== undefined; step = pickNext()) {
      await step();
      await nextTurn();
    }
    isRunning = false;
  }

  return {
    take: (accountId, step) =>
      new Promise((resolve, reject) => {
        const queue = waiting.get(accountId) ?? [];
        queue.push(() => step().then(resolve, reject));
        waiting.set(accountId, queue);
        if (!isRunning) void runAll();
      }),
    waitingOf: (accountId) => waiting.get(accountId)?.length ?? 0,
  };
}

/** Rejects a search, or a read that is as long, if the account already has too many waiting. */
export function admitSearch(turns: FairTurns, accountId: string): void {
  if (turns.waitingOf(accountId) < SEARCHES_WAITING_MAX) return;
  throw new AppError("RATE_LIMITED", "Too many searches at once. Retry after 5 seconds.", {
    headers: { "retry-after": "5" },
  });
}
