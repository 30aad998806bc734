import type { Environment, EventType } from "@upstow/contract";
import type { Database, Queryable } from "../../db/database.ts";
import type { WebhookMessageTable } from "../../db/schema.ts";
import { randomText } from "../../ids.ts";
import {
  insertAttempts,
  leaseMessages,
  listDue,
  requeueEndpoint,
  takeDueEndpoints,
} from "./claim-queries.ts";

/** A message that this worker alone may send until its lease ends. */
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
  leaseMs: number;
}

const endpointsPerTurn = 32;
const endpointCap = 8;
const failingEndpointCap = 1;
const projectCap = 32;
export const TIMEOUTS_UNTIL_FAILING = 5;
/** A project at its cap has its other endpoints looked at again after this. */
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
export async function claimDue(
  db: Database,
  options: ClaimOptions,
): Promise<{ claims: Claim[]; visited: number }> {
  return db.transact(async (tx) => {
    const endpoints = await tx.all(takeDueEndpoints, { take: endpointsPerTurn });
    if (endpoints.length === 0) return { claims: [], visited: 0 };
    const rooms = endpoints.map(roomOf);
    const due = await Promise.all(
      endpoints.map(({ id }, i) => tx.all(listDue, { endpointId: id, take: rooms[i] ?? 0 })),
    );
    const token = randomText(20);
    const claims: Claim[] = [];
    const ofProject = new Map(options.inFlight);
    const served = endpoints.map(({ id }, i): Served => {
      let taken = 0;
      let isProjectFull = false;
      for (const row of due[i] ?? []) {
        const count = ofProject.get(row.project_id) ?? 0;
        isProjectFull = count >= projectCap;
        if (isProjectFull || claims.length >= options.slots) break;
        ofProject.set(row.project_id, count + 1);
        claims.push(toClaim(row, token));
        taken += 1;
      }
      const isFull = taken === rooms[i];
      return { id, taken, isFull, pauseMs: isFull ? options.leaseMs : isProjectFull ? projectPauseMs : 0 };
    });
    await lease(tx, claims, served, token, options.leaseMs);
    return { claims, visited: endpoints.length };
  });
}

function roomOf(endpoint: { consecutive_timeouts: number; live_leases: number }): number {
  const cap = endpoint.consecutive_timeouts >= TIMEOUTS_UNTIL_FAILING ? failingEndpointCap : endpointCap;
  return Math.max(0, cap - endpoint.live_leases);
}

async function lease(tx: Queryable, claims: Claim[], served: Served[], token: string, leaseMs: number) {
  const ids = JSON.stringify(claims.map((claim) => claim.id));
  const writes: Promise<unknown>[] = [];
  if (claims.length > 0) {
    writes.push(tx.run(leaseMessages, { ids, token, leaseMs }), tx.run(insertAttempts, { ids }));
  }
  for (const { isFull, ...endpoint } of served) {
    writes.push(tx.run(requeueEndpoint, { ...endpoint, isFull: isFull ? 1 : 0 }));
  }
  await Promise.all(writes);
}

type DueRow = Omit<
  WebhookMessageTable,
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
