import { setTimeout as wait } from "node:timers/promises";
import type { ReceivedEvent } from "@upstow/sdk";
import { type Outcome, sendLocally } from "./send-locally.ts";

export interface Forwarding {
  target: string;
  getSigningKey(): Promise<string>;
  signal: AbortSignal;
  /** Called once per wait. */
  onAway(error: string): void;
}

/** Errors which mean that the server is down and never saw the event. */
const awayErrors = ["refused", "unreachable", "dns"];
const mostAttempts = 4;
const firstPauseMs = 250;
const longestPauseMs = 2_000;

/**
 * Forwards one event to the local server. Waits indefinitely for a server that is down. If the server drops the
 * connection, as when it restarts, retries as often as a real delivery. Any response counts.
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
