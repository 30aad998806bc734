import type { Delivery, RedeliverBody, RedeliverResult } from "@upstow/contract";
import type { Database, Queryable } from "../db/database.ts";
import type { Deps } from "../deps.ts";
import type { Actor } from "../kernel/actor.ts";
import { invalid, notFound } from "../kernel/errors.ts";
import { admitSearch } from "../kernel/fair-turns.ts";
import { record } from "../projects/audit/record.ts";
import { serves } from "../projects/file-routes/find-route.ts";
import { listRouteUrls } from "../projects/file-routes/queries.ts";
import { DELIVERIES_AT_ONCE, filterOf, indexFor, isWanted, toDelivery } from "./deliveries.ts";
import {
  findDelivery,
  listTargets,
  listTargetsById,
  lockMessages,
  requeueMessages,
  wakeEndpoint,
} from "./delivery-queries.ts";
import { endpointIdOf, RETRIES } from "./enqueue.ts";

interface Target {
  id: string;
  route_slug: string;
  url: string | null;
  endpoint_id: string | null;
}

/** Called in each transaction that queues messages. */
type OnQueued = (tx: Queryable) => Promise<void>;

/** Sends a delivery again under the same message id, with all its retries. Returns it as it was queued. */
export async function redeliverOne(
  deps: Deps,
  actor: Actor,
  id: string,
  onQueued: (tx: Queryable, delivery: Delivery) => Promise<void>,
): Promise<Delivery> {
  const targets = await findTargets(deps.db, actor, [id]);
  if (targets.length === 0) throw notFound("Delivery");
  const urls = await currentUrls(deps, actor);
  const { projectId, environment } = actor;
  const queued = await deps.db.transact(async (tx) => {
    await requeue(tx, actor, targets, urls);
    const row = await tx.get(findDelivery, { id, projectId, environment });
    if (row === null) throw notFound("Delivery");
    const delivery = toDelivery(row);
    await recordResend(tx, deps, actor, { ids: [id] });
    await onQueued(tx, delivery);
    return delivery;
  });
  deps.dispatcher.nudge();
  return queued;
}

export async function redeliverMany(
  deps: Deps,
  actor: Actor,
  body: RedeliverBody,
  onQueued: OnQueued,
): Promise<RedeliverResult> {
  if ((body.ids === undefined) === (body.filter === undefined)) {
    throw invalid("body", "must have either ids or filter");
  }
  const result =
    body.ids === undefined
      ? await redeliverMatching(deps, actor, body.filter ?? {}, body.dryRun ?? false, onQueued)
      : await redeliverNamed(deps, actor, body.ids, body.dryRun ?? false, onQueued);
  if (result.queued > 0) deps.dispatcher.nudge();
  return result;
}

async function redeliverNamed(
  deps: Deps,
  actor: Actor,
  ids: string[],
  dryRun: boolean,
  onQueued: OnQueued,
): Promise<RedeliverResult> {
  const targets = await findTargets(deps.db, actor, ids);
  if (dryRun || targets.length === 0) return { matched: targets.length, queued: 0 };
  const urls = await currentUrls(deps, actor);
  const queued = await deps.db.transact(async (tx) => {
    await onQueued(tx);
    await recordResend(tx, deps, actor, { ids: targets.map(({ id }) => id) });
    return requeue(tx, actor, targets, urls);
  });
  return { matched: targets.length, queued };
}

/**
 * In batches with their own transactions, so that a large backlog does not block others. Batches are read in turns with
 * other accounts, because few of the deliveries may match.
 */
async function redeliverMatching(
  deps: Deps,
  actor: Actor,
  wanted: NonNullable<RedeliverBody["filter"]>,
  dryRun: boolean,
  onQueued: OnQueued,
): Promise<RedeliverResult> {
  const { db, turns } = deps;
  const filter = filterOf(actor, wanted);
  const statement = listTargets[indexFor(filter)];
  admitSearch(turns, actor.accountId);
  const urls = await currentUrls(deps, actor);
  const result = { matched: 0, queued: 0 };
  for (let { from } = filter; ; ) {
    const span = { ...filter, from, take: DELIVERIES_AT_ONCE };
    const read = await turns.take(actor.accountId, () => db.all(statement, span));
    const last = read.at(-1);
    if (last === undefined) return result;
    const targets = read.filter((row) => isWanted(filter, row));
    result.matched += targets.length;
    if (!dryRun && targets.length > 0) {
      result.queued += await db.transact(async (tx) => {
        await onQueued(tx);
        await recordResend(tx, deps, actor, { filter: JSON.stringify(wanted) });
        return requeue(tx, actor, targets, urls);
      });
    }
    // Sorts between the last id and every later one, because all ids have the same length.
    from = `${last.id}0`;
  }
}

function recordResend(
  tx: Queryable,
  { now, author }: Deps,
  { projectId, environment }: Actor,
  which: { ids: string[] } | { filter: string },
): Promise<void> {
  const target = { kind: "deliveries", id: environment } as const;
  return record(tx, now(), author, { action: "deliveries.resent", target, projectId, after: which });
}

function findTargets(db: Database, actor: Actor, ids: string[]): Promise<Target[]> {
  const { projectId, environment } = actor;
  return db.all(listTargetsById, { projectId, environment, ids: JSON.stringify(ids) });
}

/**
 * A common reason for a redelivery is that the route's URL was wrong and has been corrected. But the slug may now
 * belong to a route of the other environment, whose keys must not receive this one's events.
 */
async function currentUrls(deps: Deps, actor: Actor): Promise<Map<string, string | null>> {
  const routes = await deps.db.all(listRouteUrls, { projectId: actor.projectId });
  const own = routes.filter((route) => serves(route, actor.environment));
  return new Map(own.map((route) => [route.slug, route.webhook_url]));
}

async function requeue(
  tx: Queryable,
  actor: Actor,
  targets: Target[],
  urls: Map<string, string | null>,
): Promise<number> {
  const byUrl = Map.groupBy(targets, (target) => urls.get(target.route_slug) ?? target.url ?? "");
  const groups = [...byUrl].map(([url, group]) => ({
    url,
    endpointId: endpointIdOf(actor.projectId, actor.environment, url),
    ids: JSON.stringify(group.map((target) => target.id)),
  }));
  // Messages before endpoints, and both in a fixed order, as wherever attempts end.
  await tx.all(lockMessages, { ids: JSON.stringify(targets.map((target) => target.id)) });
  let queued = 0;
  for (const group of groups) queued += await tx.run(requeueMessages, { ...group, retriesAllowed: RETRIES });
  const endpointIds = new Set([
    ...groups.map((group) => group.endpointId),
    ...targets.map((target) => target.endpoint_id ?? ""),
  ]);
  for (const id of [...endpointIds].sort()) await tx.run(wakeEndpoint, { id });
  return queued;
}
