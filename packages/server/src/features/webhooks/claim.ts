import type { Environment, EventType } from "@upstow/contract";
import type { Database, Queryable } from "../../db/database.ts";
import type { WebhookMessageTable } from "../../db/schema.ts";
import { randomText } from "../../ids.ts";
import {
  countLeases,
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
  isFull: boolean;
  pauseMs: number;
}

/**
 * Serves the endpoints that have waited longest, each up to its cap, so that no endpoint and no project can take
 * all slots. The leases are durable before anything is sent.
 */
export async function claimDue(
  db: Database,
  options: ClaimOptions,
): Promise<{ claims: Claim[]; visited: number }> {
  return db.transact(async (tx) => {
    const endpoints = await tx.all(takeDueEndpoints, { take: endpointsPerTurn });
    if (endpoints.length === 0) return { claims: [], visited: 0 };
    const leases = await tx.all(countLeases, {});
    const leasesOfProject = sumByProject(leases);
    const wanted = endpoints.map((endpoint) => {
      const isFailing = endpoint.consecutive_timeouts >= TIMEOUTS_UNTIL_FAILING;
      const live = leases.find((row) => row.endpoint_id === endpoint.id)?.count ?? 0;
      return { id: endpoint.id, room: Math.max(0, (isFailing ? failingEndpointCap : endpointCap) - live) };
    });
    const due = await Promise.all(
      wanted.map(({ id, room }) => tx.all(listDue, { endpointId: id, take: room })),
    );
    const token = randomText(20);
    const claims: Claim[] = [];
    const served = wanted.map(({ id, room }, i): Served => {
      let taken = 0;
      let isProjectFull = false;
      for (const row of due[i] ?? []) {
        const ofProject = leasesOfProject.get(row.project_id) ?? 0;
        isProjectFull = ofProject >= projectCap;
        if (isProjectFull || claims.length >= options.slots) break;
        leasesOfProject.set(row.project_id, ofProject + 1);
        claims.push(toClaim(row, token));
        taken += 1;
      }
      const isFull = taken === room;
      return { id, isFull, pauseMs: isFull ? options.leaseMs : isProjectFull ? projectPauseMs : 0 };
    });
    await lease(tx, claims, served, token, options.leaseMs);
    return { claims, visited: endpoints.length };
  });
}

async function lease(tx: Queryable, claims: Claim[], served: Served[], token: string, leaseMs: number) {
  const ids = JSON.stringify(claims.map((claim) => claim.id));
  const writes: Promise<unknown>[] = [];
  if (claims.length > 0) {
    writes.push(tx.run(leaseMessages, { ids, token, leaseMs }), tx.run(insertAttempts, { ids }));
  }
  for (const { id, isFull, pauseMs } of served) {
    writes.push(tx.run(requeueEndpoint, { id, isFull: isFull ? 1 : 0, pauseMs }));
  }
  await Promise.all(writes);
}

function sumByProject(leases: { project_id: string; count: number }[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { project_id, count } of leases) sums.set(project_id, (sums.get(project_id) ?? 0) + count);
  return sums;
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
