import type { Environment, EventType } from "@upstow/contract";
import { type Database, type Queryable, withCommit } from "../db/database.ts";
import type { WebhookMessageRow } from "../db/schema.ts";
import { randomText } from "../kernel/ids.ts";
import {
  insertAttempts,
  leaseMessages,
  listDue,
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

export const ENDPOINTS_PER_TURN = 32;
const endpointCap = 8;
const failingEndpointCap = 1;
export const PROJECT_CAP = 32;
export const TIMEOUTS_UNTIL_FAILING = 5;
/** The instance that paused an endpoint resumes it sooner; this is for others, and in case it dies. */
const projectPauseMs = 250;

interface Served {
  id: string;
  taken: number;
  isFull: boolean;
  pauseMs: number;
}

/**
 * Serves the endpoints that have waited longest, each up to its cap on all instances, and each project up to its
 * share of this instance's slots. The leases are durable before anything is sent.
 */
export async function claimDue(db: Database, options: ClaimOptions): Promise<Claimed> {
  return db.transact(async (tx) => {
    const endpoints = await takeEndpoints(tx, options.resumed ?? []);
    const { token, claims, heldBack, serve } = startTurn(options);
    if (endpoints.length > 0) {
      const rooms = endpoints.map(roomOf);
      const due = await Promise.all(
        endpoints.map(({ id }, i) => tx.all(listDue, { endpointId: id, take: rooms[i] ?? 0 })),
      );
      const served = endpoints.map(({ id }, i) => serve(id, due[i] ?? [], rooms[i] ?? 0));
      await lease(tx, claims, served, token, options.leaseMs);
    }
    return { claims, visited: endpoints.map(({ id }) => id), heldBack };
  });
}

/** Assigns slots, endpoint by endpoint, until none are left or a project has its share. */
function startTurn({ slots, inFlight, leaseMs }: ClaimOptions) {
  const token = randomText(20);
  const claims: Claim[] = [];
  const heldBack = new Map<string, string>();
  const ofProject = new Map(inFlight);

  function serve(id: string, due: DueRow[], room: number): Served {
    let taken = 0;
    for (const row of due) {
      const count = ofProject.get(row.project_id) ?? 0;
      if (count >= PROJECT_CAP) heldBack.set(id, row.project_id);
      if (count >= PROJECT_CAP || claims.length >= slots) break;
      ofProject.set(row.project_id, count + 1);
      claims.push(toClaim(row, token));
      taken += 1;
    }
    const isFull = taken === room;
    return { id, taken, isFull, pauseMs: isFull ? leaseMs : heldBack.has(id) ? projectPauseMs : 0 };
  }
  return { token, claims, heldBack, serve };
}

/** In the order in which they became due, so that waiting at a project's cap costs an endpoint only the wait. */
async function takeEndpoints(tx: Queryable, resumed: readonly string[]) {
  const [waited, due] = await Promise.all([
    resumed.length === 0 ? [] : tx.all(takePausedEndpoints, { ids: JSON.stringify(resumed), projectPauseMs }),
    tx.all(takeDueEndpoints, { take: ENDPOINTS_PER_TURN }),
  ]);
  const known = new Set(waited.map(({ id }) => id));
  const all = [...waited, ...due.filter(({ id }) => !known.has(id))];
  return all.sort((a, b) => (a.due_since ?? 0) - (b.due_since ?? 0));
}

function roomOf(endpoint: { consecutive_timeouts: number; live_leases: number }): number {
  const cap = endpoint.consecutive_timeouts >= TIMEOUTS_UNTIL_FAILING ? failingEndpointCap : endpointCap;
  return Math.max(0, cap - endpoint.live_leases);
}

function lease(tx: Queryable, claims: Claim[], served: Served[], token: string, leaseMs: number) {
  const ids = JSON.stringify(claims.map((claim) => claim.id));
  return withCommit(tx, () => {
    const writes: Promise<unknown>[] = [];
    if (claims.length > 0) {
      writes.push(tx.run(leaseMessages, { ids, token, leaseMs }), tx.run(insertAttempts, { ids }));
    }
    for (const { isFull, ...endpoint } of served) {
      writes.push(tx.run(requeueEndpoint, { ...endpoint, isFull: isFull ? 1 : 0 }));
    }
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
