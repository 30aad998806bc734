import { type Environment, PAGE_MAX, ROUTES_PER_PROJECT_MAX, type Router } from "@upstow/contract";
import type { Database } from "../../db/database.ts";
import type { FileRouteRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { endPage, type PageRequest, startPage } from "../../http/paging.ts";
import type { Actor } from "../../kernel/actor.ts";
import { unauthorized } from "../../kernel/errors.ts";
import { isoTime } from "../../kernel/iso-time.ts";
import { findRouteBySlug, listRoutes } from "./queries.ts";

/** A route's data needed by every upload. */
export function findRoute(db: Database, projectId: string, slug: string): Promise<FileRouteRow | null> {
  return db.recall(findRouteBySlug, { projectId, slug });
}

/** A route of one environment does not exist for the other. */
export function serves(route: Pick<FileRouteRow, "environment">, environment: Environment): boolean {
  return route.environment === "all" || route.environment === environment;
}

export function requireServes(route: FileRouteRow, environment: Environment): void {
  if (serves(route, environment)) return;
  throw unauthorized(
    `a ${environment} key on ${route.environment} route "${route.slug}"`,
    `The file route "${route.slug}" accepts only ${route.environment} keys. Send one of those.`,
  );
}

type Viewer = Pick<Actor, "projectId" | "accountId" | "environment">;

/** A page is up to a megabyte, so it takes turns like the whole list. */
export async function listPage({ db, turns }: Deps, viewer: Viewer, request: PageRequest) {
  const { projectId, accountId } = viewer;
  const { before, take } = startPage(request);
  const rows = await turns.take(accountId, () => db.all(listRoutes, { projectId, before, take }));
  const { shown, ...page } = endPage(rows, take);
  return { routers: shown.map((row) => toRouter(row, viewer)), ...page };
}

/**
 * All routes as JSON text, page by page. At the limits they are several megabytes: the next page is read when the last
 * one was sent, other requests get their turn in between, and the types are sent as stored, which is JSON.
 */
export async function* listAllAsJson(
  { db, turns }: Pick<Deps, "db" | "turns">,
  viewer: Viewer,
): AsyncGenerator<string> {
  const { projectId, accountId } = viewer;
  let { before } = startPage({});
  let lead = '{"routers":[';
  for (let listed = 0; listed < ROUTES_PER_PROJECT_MAX; listed += PAGE_MAX) {
    const wanted = { projectId, before, take: PAGE_MAX };
    const rows = await turns.take(accountId, () => db.all(listRoutes, wanted));
    if (rows.length > 0) {
      yield lead + rows.map((row) => toJson(row, viewer)).join();
      lead = ",";
    }
    if (rows.length < PAGE_MAX) break;
    before = rows.at(-1)?.id ?? before;
  }
  yield lead === "," ? "]}" : `${lead}]}`;
}

function toJson(row: FileRouteRow, viewer: Viewer): string {
  const { id, projectId, slug, allowedTypes: _, ...rest } = toRouter({ ...row, allowed_types: "[]" }, viewer);
  const start = JSON.stringify({ id, projectId, slug }).slice(0, -1);
  return `${start},"allowedTypes":${row.allowed_types},${JSON.stringify(rest).slice(1)}`;
}

/** Test keys, which may be widely shared, must not see where live events go. */
export function toRouter(row: FileRouteRow, { environment }: Pick<Actor, "environment">): Router {
  return {
    id: row.id,
    projectId: row.project_id,
    slug: row.slug,
    allowedTypes: JSON.parse(row.allowed_types),
    maxFileSize: row.max_file_size_bytes,
    webhookUrl: environment === "test" && row.environment === "live" ? null : row.webhook_url,
    environment: row.environment,
    access: row.access,
    expireAfterDays: row.expire_after_days,
    claimWithin: row.claim_within_sec,
    keepLocation: row.keep_location === 1,
    checkContent: row.check_content,
    stripMetadata: row.strip_metadata,
    scan: row.scan === 1,
    scanUnknown: row.scan_unknown,
    formOrigins: JSON.parse(row.form_origins),
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}
