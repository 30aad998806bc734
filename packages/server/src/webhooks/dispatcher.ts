import { setTimeout as wait } from "node:timers/promises";
import { DatabaseReadOnly, DatabaseUnavailable } from "../db/database.ts";
import { createLanes } from "../db/lanes.ts";
import type { Deps } from "../deps.ts";
import type { RunJob } from "../kernel/event-loop-guard.ts";
import { createAlarm, createAnnouncer, MESSAGES_CHANNEL } from "./alarm.ts";
import { type Claim, claimDue, PROJECT_CAP, recoverLeases } from "./claim.ts";
import { createDelivery } from "./deliver.ts";
import { type FinishedAttempt, finishAttempts, type Noted } from "./finish.ts";
import { createWebhookMetrics } from "./metrics.ts";
import { ENDPOINTS_PER_TURN, findNextWork } from "./queue-queries.ts";
import { createSender, type Send } from "./send.ts";

export interface DispatcherDeps
  extends Pick<Deps, "config" | "db" | "keyring" | "webhookGuard" | "metrics" | "log" | "now"> {
  /** Whether this instance reports what all instances share. */
  isSpeaker: () => Promise<boolean>;
}

export interface DispatcherOptions {
  /** Concurrent attempts of this instance, not counting slow ones. */
  slots?: number;
  /** After this, an attempt gives up its slot, so that no number of unresponsive endpoints blocks the rest. */
  longAfterMs?: number;
  /** For one attempt, from DNS resolution to the last byte of the response. */
  deadlineMs?: number;
  /** Longer than the deadline, so that a live worker does not lose what it is sending. */
  leaseMs?: number;
  pollMs?: number;
  drainMs?: number;
  /** Nothing is claimed while this is true. */
  isResting?: () => boolean;
  runJob?: RunJob;
  send?: Send;
}

export interface Dispatcher {
  start(): void;
  /** Call it once a transaction that wrote messages is durable; otherwise they are sent with the next poll. */
  nudge(): void;
  /** The same for events without a webhook: only listeners of the stream receive them. */
  announce(): void;
  /** Sends a message that the caller has leased, and records the outcome. */
  deliver(claim: Claim): Promise<void>;
  leaseMs: number;
  /** Stops claiming and lets attempts finish; those that take too long are left to their leases. */
  close(): Promise<void>;
}

/** Under load, attempts that end within this time share one claim instead of one each. */
const paceMs = 5;
/** Another transaction currently holds what is due. */
const lockedElsewhereMs = 10;
const pauseAfterFailureMs = 1_000;
/** Files under `deploy` give a process longer than this to stop. */
export const DRAIN_MS = 30_000;
/** Maximum attempts per slot, including slow ones, because each holds a connection. */
const attemptsPerSlot = 8;
const mostFinishedTogether = 64;

export function createDispatcher(deps: DispatcherDeps, options: DispatcherOptions = {}): Dispatcher {
  const { slots = 128, longAfterMs = 3_000, leaseMs = 60_000 } = options;
  const { pollMs = 1_000, drainMs = DRAIN_MS, isResting = () => false } = options;
  const { runJob = (_name, work) => work() } = options;
  const closing = new AbortController();
  const cutOff = new AbortController();
  const inFlight = new Map<Promise<void>, { claim: Claim; startedAt: number }>();
  /** Endpoints waiting at their project's cap, with the project. */
  const heldBack = new Map<string, string>();
  const alarm = createAlarm();
  const announce = createAnnouncer(deps.db, (error) => {
    if (!closing.signal.aborted)
      deps.log.warn({ err: error }, "could not notify other instances of messages");
  });
  /** A single attempt hardly waits; under load, one commit serves many. */
  const finishTogether = createLanes<FinishedAttempt, Noted>(
    (attempts) => within(leaseMs, finishAttempts(deps.db, deps.now(), attempts)),
    () => mostFinishedTogether,
  );
  const deliver = createDelivery(deps, {
    send: options.send ?? createSender(deps.webhookGuard, options.deadlineMs),
    finish: (attempt) => finishTogether("all", attempt),
    metrics: createWebhookMetrics(deps.metrics, deps.db, deps.isSpeaker),
    leaseMs,
    stop: cutOff.signal,
  });
  let loop = Promise.resolve();

  function track(claim: Claim): Promise<void> {
    const work = deliver(claim).finally(() => {
      inFlight.delete(work);
      alarm.ring();
    });
    inFlight.set(work, { claim, startedAt: performance.now() });
    return work;
  }

  function countFreeSlots(): number {
    const since = performance.now() - longAfterMs;
    let taken = 0;
    for (const { startedAt } of inFlight.values()) if (startedAt > since) taken += 1;
    return Math.min(slots - taken, slots * attemptsPerSlot - inFlight.size);
  }

  /** Returns how long it can be idle. */
  async function dispatch(): Promise<number> {
    const freeSlots = countFreeSlots();
    if (freeSlots <= 0 || isResting()) return pollMs;
    const work = await deps.db.get(findNextWork, {});
    if ((work?.leaseEndsInMs ?? 1) <= 0) {
      await recoverLeases(deps.db, deps.now(), deps.config.webhookRetryBaseMs);
      return 0;
    }
    const ofProject = countByProject(inFlight.values());
    const hasRoom = ([, projectId]: [string, string]) => (ofProject.get(projectId) ?? 0) < PROJECT_CAP;
    const resumed = [...heldBack]
      .filter(hasRoom)
      .map(([id]) => id)
      .slice(0, ENDPOINTS_PER_TURN);
    const dueInMs = work?.dueInMs ?? pollMs;
    if (dueInMs > 0 && resumed.length === 0) return Math.min(dueInMs, pollMs);
    if (closing.signal.aborted) return 0;
    const claimed = await claimDue(deps.db, { slots: freeSlots, inFlight: ofProject, resumed, leaseMs });
    for (const claim of claimed.claims) track(claim);
    for (const id of [...resumed, ...claimed.visited]) heldBack.delete(id);
    for (const [id, projectId] of claimed.heldBack) heldBack.set(id, projectId);
    return claimed.visited.length === 0 ? lockedElsewhereMs : 0;
  }

  async function run(): Promise<void> {
    // Ring once it listens, because notifications from just before were missed.
    deps.db.listen(MESSAGES_CHANNEL, alarm.ring).then(alarm.ring, (error: unknown) => {
      deps.log.warn({ err: error }, "cannot listen for new messages; polling every second");
    });
    let lastAt = -paceMs;
    while (!closing.signal.aborted) {
      await wait(Math.max(0, lastAt + paceMs - performance.now()));
      lastAt = performance.now();
      const idleMs = await within(leaseMs, runJob("send webhooks", dispatch)).catch((error: unknown) => {
        if (!(error instanceof DatabaseReadOnly)) deps.log.error({ err: error }, "webhook dispatch failed");
        return pauseAfterFailureMs;
      });
      if (idleMs > 0) await alarm.sleep(idleMs);
    }
  }

  return {
    leaseMs,
    start() {
      loop = run();
    },
    nudge() {
      alarm.ring();
      announce();
    },
    announce,
    deliver: track,
    async close() {
      closing.abort();
      alarm.ring();
      await loop;
      const drained = Promise.all(inFlight.keys());
      const tooLong = new AbortController();
      await Promise.race([drained, wait(drainMs, undefined, { signal: tooLong.signal }).catch(() => {})]);
      tooLong.abort();
      cutOff.abort();
      await Promise.all(inFlight.keys());
    },
  };
}

function countByProject(attempts: Iterable<{ claim: Claim }>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const {
    claim: { projectId },
  } of attempts)
    counts.set(projectId, (counts.get(projectId) ?? 0) + 1);
  return counts;
}

/**
 * Stops waiting for a database that neither responds nor fails, as can happen when a driver's connection breaks. The
 * work may still take effect; leases and their tokens make that harmless.
 */
async function within<T>(timeMs: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  // The error is created on demand, because its stack would cost more than the wait.
  const timer = setTimeout(() => reject(new DatabaseUnavailable("the database did not respond")), timeMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
