import { setTimeout as wait } from "node:timers/promises";
import type { Environment } from "@upstow/contract";
import { DatabaseUnavailable } from "../db/database.ts";
import { beginCall } from "../kernel/calls.ts";
import { parseOutboundUrl } from "../kernel/net/outbound-url.ts";
import { version } from "../kernel/version.ts";
import type { Claim } from "./claim.ts";
import type { DispatcherDeps } from "./dispatcher.ts";
import { messageIdOf, parseRetryAfter, retryDelayMs } from "./enqueue.ts";
import type { FinishedAttempt, Noted } from "./finish.ts";
import type { WebhookMetrics } from "./metrics.ts";
import { TIMEOUTS_UNTIL_FAILING } from "./queue-queries.ts";
import type { Send, SendResult } from "./send.ts";
import { type KeysToSignWith, signDelivery, urlToSign } from "./sign-delivery.ts";
import { getKeysToSignWith } from "./signing-keys.ts";

export interface DeliveryTools {
  send: Send;
  finish: (attempt: FinishedAttempt) => Promise<Noted>;
  metrics: WebhookMetrics;
  leaseMs: number;
  /** Aborted when the process cannot wait any longer; what is being sent is then left to its lease. */
  stop: AbortSignal;
}

const pauseWithoutDatabaseMs = 500;

/** One attempt, from the signature to the recorded outcome. Never rejects. */
export function createDelivery(deps: DispatcherDeps, tools: DeliveryTools): (claim: Claim) => Promise<void> {
  const findKeys = createFindKeys(deps);
  return async (claim) => {
    const startedAt = performance.now();
    const context = { deliveryId: claim.id, attempt: claim.attempt };
    try {
      const result = await attempt(deps, tools, findKeys, claim);
      const durationMs = Math.round(performance.now() - startedAt);
      tools.metrics.countAttempt(result.error);
      const retry = result.error === null ? null : planRetry(deps, claim, result);
      const leaseEndsAt = startedAt + tools.leaseMs;
      await finish(deps, tools, { claim, result, durationMs, retryDelayMs: retry }, leaseEndsAt);
    } catch (error) {
      if (!tools.stop.aborted) deps.log.error({ err: error, ...context }, "delivery was left to its lease");
    }
  };
}

async function attempt(
  deps: DispatcherDeps,
  tools: DeliveryTools,
  findKeys: FindKeys,
  claim: Claim,
): Promise<SendResult> {
  const parsed = parseOutboundUrl(claim.url, { plainHttp: true });
  if (!parsed.ok) return { statusCode: null, error: "blocked", response: null };
  const body = Buffer.from(claim.body);
  const keys = await findKeys(claim.projectId, claim.environment);
  if (keys === null) return { statusCode: null, error: "internal", response: null };
  const messageId = messageIdOf(claim.id);
  const signed = signDelivery(
    {
      messageId,
      attemptId: `att_${claim.id}_${claim.attempt}`,
      attempt: claim.attempt,
      retried: claim.retried,
      event: claim.event,
      environment: claim.environment,
      routeSlug: claim.routeSlug,
      url: urlToSign(claim.url),
      body,
    },
    keys,
    deps.now(),
  );
  const call = beginCall("webhook", "POST");
  const headers = {
    ...call.headers,
    ...signed,
    "content-type": "application/json",
    "accept-encoding": "identity",
    "user-agent": `Upstow/${version}`,
  };
  const result = await tools.send({ url: parsed.url, headers, body }, tools.stop);
  call.end(result.error ?? undefined);
  return result;
}

type FindKeys = (projectId: string, environment: Environment) => Promise<KeysToSignWith | null>;

/** Keys that cannot be decrypted (a secret is missing) fail only this project's deliveries. */
function createFindKeys(deps: DispatcherDeps): FindKeys {
  const read = createShared((_name: string, projectId: string, environment: Environment) =>
    getKeysToSignWith(deps, { projectId, environment }),
  );
  return async (projectId, environment) => {
    try {
      // Deliveries of one claim start together, so one lookup serves them all.
      return await read(`${projectId} ${environment}`, projectId, environment);
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error;
      deps.log.error({ err: error, projectId }, "webhook signing keys cannot be read");
      return null;
    }
  };
}

function planRetry(deps: DispatcherDeps, claim: Claim, result: SendResult): number | null {
  return retryDelayMs({
    retried: claim.retried,
    allowed: claim.retriesAllowed,
    baseMs: deps.config.webhookRetryBaseMs,
    retryAfterMs: parseRetryAfter(result.retryAfter, deps.now()),
    random: Math.random(),
  });
}

/** The receiver has responded; waits for an unavailable database for the duration of the lease. */
async function finish(
  deps: DispatcherDeps,
  tools: DeliveryTools,
  attempt: FinishedAttempt,
  leaseEndsAt: number,
): Promise<void> {
  for (;;) {
    try {
      const noted = await tools.finish(attempt);
      if (noted?.consecutiveTimeouts === TIMEOUTS_UNTIL_FAILING) warnOfTimeouts(deps, attempt.claim);
      return;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || performance.now() > leaseEndsAt) throw error;
      await wait(pauseWithoutDatabaseMs, undefined, { signal: tools.stop });
    }
  }
}

function warnOfTimeouts(deps: DispatcherDeps, claim: Claim): void {
  deps.log.warn(
    { projectId: claim.projectId, routeSlug: claim.routeSlug, deliveryId: claim.id },
    "a webhook endpoint keeps timing out; it is sent one message at a time until it responds",
  );
}

/** Concurrent callers with the same key share one run and its result. */
function createShared<Rest extends unknown[], T>(
  work: (name: string, ...rest: Rest) => Promise<T>,
): (name: string, ...rest: Rest) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  return (name, ...rest) => {
    const known = running.get(name);
    if (known !== undefined) return known;
    const started = work(name, ...rest).finally(() => running.delete(name));
    running.set(name, started);
    return started;
  };
}
