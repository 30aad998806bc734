import type { Environment, EventType } from "@upstow/contract";
import { type Database, type Queryable, withCommit } from "../db/database.ts";
import type { WebhookMessageRow } from "../db/schema.ts";
import { randomText } from "../kernel/ids.ts";
import { writeLog } from "../projects/logs/queries.ts";
import { describeNextAttempt, fileOf } from "./finish.ts";
import {
  ENDPOINT_CAP,
  endLease,
  insertAttempts,
  leaseMessages,
  listDue,
  listExpiredLeases,
  lockEndpoints,
  markInterrupted,
  readEndpoints,
  releaseEndpoint,
  requeueEndpoint,
  takeDueEndpoints,
  takePausedEndpoints,
} from "./queue-queries.ts";

/** A message that only this worker may send until its lease ends. */
export interface Claim {
  id: string;
  token: string;
  projectId: string;
  environment: Environment;
  event: EventType;
  routeSlug: string;
  body: string;
  url: string;
  endpointId: string;
  attempt: number;
  retried: number;
  retriesAllowed: number;
}

export interface ClaimOptions {
  slots: number;
  /** How many messages of each project this instance is sending. */
  inFlight: ReadonlyMap<string, number>;
  /** Paused endpoints to check because their project has room again. */
  resumed?: readonly string[];
  leaseMs: number;
}

export interface Claimed {
  claims: Claim[];
  /** All endpoints that were checked, whether or not something was claimed. */
  visited: string[];
  /** Endpoints with due messages that wait for their project's cap, and the project. */
  heldBack: Map<string, string>;
}

export const PROJECT_CAP = 32;
/** The instance that paused an endpoint resumes it sooner; this is for others, and in case it dies. */
const projectPauseMs = 250;

interface Served {
  id: string;
  taken: number;
  pauseMs: number;
}

/**
 * Serves the endpoints that have waited longest, each up to its cap on all instances, and each project up to its
 * share of this instance's slots. The leases are durable before anything is sent.
 */
export async function claimDue(db: Database, options: ClaimOptions): Promise<Claimed> {
  return db.transact(async (tx) => {
    const ids = await takeEndpoints(tx, options.resumed ?? []);
    const { token, claims, heldBack, serve } = startTurn(options);
    if (ids.length > 0) {
      const endpoints = await readDue(tx, ids, new Set(options.resumed));
      const served = endpoints.map(({ id, due, room }) => serve(id, due.slice(0, Math.max(0, room))));
      await lease(tx, claims, served, token, options.leaseMs);
    }
    return { claims, visited: ids, heldBack };
  });
}

/** Assigns slots, endpoint by endpoint, until none are left or a project has its share. */
function startTurn({ slots, inFlight }: ClaimOptions) {
  const token = randomText(20);
  const claims: Claim[] = [];
  const heldBack = new Map<string, string>();
  const ofProject = new Map(inFlight);

  function serve(id: string, due: DueRow[]): Served {
    let taken = 0;
    for (const row of due) {
      const count = ofProject.get(row.project_id) ?? 0;
      if (count >= PROJECT_CAP) heldBack.set(id, row.project_id);
      if (count >= PROJECT_CAP || claims.length >= slots) break;
      ofProject.set(row.project_id, count + 1);
      claims.push(toClaim(row, token));
      taken += 1;
    }
    return { id, taken, pauseMs: heldBack.has(id) ? projectPauseMs : 0 };
  }
  return { token, claims, heldBack, serve };
}

async function takeEndpoints(tx: Queryable, resumed: readonly string[]): Promise<string[]> {
  const [paused, due] = await Promise.all([
    resumed.length === 0 ? [] : tx.all(takePausedEndpoints, { ids: JSON.stringify(resumed) }),
    tx.all(takeDueEndpoints, {}),
  ]);
  return [...new Set([...paused, ...due].map(({ id }) => id))];
}

/** In the order in which they became due, so that waiting at a project's cap costs an endpoint only the wait. */
async function readDue(tx: Queryable, ids: string[], resumed: ReadonlySet<string>) {
  const [endpoints, ...due] = await Promise.all([
    tx.all(readEndpoints, { ids: JSON.stringify(ids) }),
    ...ids.map((endpointId) => tx.all(listDue, { endpointId, take: ENDPOINT_CAP })),
  ]);
  const dueOf = new Map(ids.map((id, i) => [id, due[i] ?? []]));
  return endpoints
    .map(({ id, room, next_run_at }) => {
      const dueSince = (next_run_at ?? 0) - (resumed.has(id) ? projectPauseMs : 0);
      return { id, room, due: dueOf.get(id) ?? [], dueSince };
    })
    .sort((a, b) => a.dueSince - b.dueSince);
}

function lease(tx: Queryable, claims: Claim[], served: Served[], token: string, leaseMs: number) {
  const ids = JSON.stringify(claims.map((claim) => claim.id));
  return withCommit(tx, () => {
    const writes: Promise<unknown>[] = [];
    if (claims.length > 0) {
      writes.push(tx.run(leaseMessages, { ids, token, leaseMs }), tx.run(insertAttempts, { ids }));
    }
    if (tx.dialect === "postgres")
      writes.push(tx.all(lockEndpoints, { ids: JSON.stringify(served.map(({ id }) => id)) }));
    writes.push(...served.map((endpoint) => tx.run(requeueEndpoint, { ...endpoint, leaseMs })));
    return Promise.all(writes);
  });
}

type DueRow = Omit<
  WebhookMessageRow,
  "seq" | "file_id" | "state" | "interruptions" | "run_at" | "lease_until" | "lease_token" | "created_at"
>;

function toClaim(row: DueRow, token: string): Claim {
  return {
    id: row.id,
    token,
    projectId: row.project_id,
    environment: row.environment,
    event: row.event,
    routeSlug: row.route_slug,
    body: row.body,
    url: row.url ?? "",
    endpointId: row.endpoint_id ?? "",
    attempt: row.attempt_count + 1,
    retried: row.retried,
    retriesAllowed: row.retries_allowed,
  };
}

const batch = 100;
/**
 * A server that is killed repeatedly never costs an event its retries or the event itself. But a message that crashes
 * the process whenever it is sent must not do so without a pause: from here on pauses double, up to a maximum.
 */
const freeInterruptions = 5;
const longestPauseMs = 3_600_000;

type Expired = Awaited<ReturnType<typeof findExpired>>[number];

/** Releases the leases of workers that died or lost the database. */
export async function recoverLeases(db: Database, now: number, pauseMs: number): Promise<number> {
  const expired = await findExpired(db);
  for (const message of expired) {
    await db.transact((tx) => recover(tx, now, message, pauseMs));
  }
  return expired.length;
}

function findExpired(db: Database) {
  return db.all(listExpiredLeases, { take: batch });
}

async function recover(tx: Queryable, now: number, message: Expired, pauseMs: number): Promise<void> {
  const charged = message.interruptions - freeInterruptions;
  const delayMs = charged < 0 ? 0 : Math.min(pauseMs * 2 ** charged, longestPauseMs);
  const ended = await tx.run(endLease, { id: message.id, token: message.lease_token ?? "", delayMs });
  if (ended !== 1) return;
  await tx.run(releaseEndpoint, { id: message.endpoint_id ?? "" });
  await tx.run(markInterrupted, { messageId: message.id, number: message.attempt_count });
  if (delayMs > 0) await logFailure(tx, now, message, delayMs);
}

async function logFailure(tx: Queryable, now: number, message: Expired, delayMs: number): Promise<void> {
  await writeLog(tx, now, {
    projectId: message.project_id,
    environment: message.environment,
    type: "webhook.failed",
    message: `Attempt ${message.attempt_count} was interrupted, like those before it. ${describeNextAttempt(delayMs)}.`,
    ...fileOf(message),
    data: {
      deliveryId: message.id,
      event: message.event,
      attempt: message.attempt_count,
      error: "interrupted",
    },
  });
}
