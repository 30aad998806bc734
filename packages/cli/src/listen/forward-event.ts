import { setTimeout as wait } from "node:timers/promises";
import type { ReceivedEvent } from "@upstow/sdk";
import { type Outcome, sendLocally } from "./send-locally.ts";

export interface Forwarding {
  target: string;
  getSigningKey(): Promise<string>;
  signal: AbortSignal;
  /** Told once for each wait. */
  onAway(error: string): void;
}

/** What says that the server is not there, and so has not seen the event. */
const awayErrors = ["refused", "unreachable", "dns"];
const mostAttempts = 4;
const firstPauseMs = 250;
const longestPauseMs = 2_000;

/**
 * Brings one event to the local server. A server that is away is waited for, as long as it takes; one that breaks
 * the connection, as restarting ones do, is asked as often as a real delivery would ask it. An answer is an answer.
 */
export async function forwardEvent(
  event: ReceivedEvent,
  { target, getSigningKey, signal, onAway }: Forwarding,
): Promise<{ attempt: number; outcome: Outcome }> {
  let isAway = false;
  let pauseMs = firstPauseMs;
  for (let attempt = 1; ; ) {
    const signingKey = await getSigningKey();
    const outcome = await sendLocally(event, { target, number: attempt, signingKey, signal });
    if (awayErrors.includes(outcome.error ?? "")) {
      if (!isAway) onAway(outcome.error ?? "");
      isAway = true;
    } else if (outcome.error !== "reset" || attempt === mostAttempts) {
      return { attempt, outcome };
    } else {
      attempt += 1;
    }
    await wait(pauseMs, undefined, { signal });
    pauseMs = Math.min(longestPauseMs, pauseMs * 2);
  }
}
