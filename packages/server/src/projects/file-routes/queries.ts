import { ROUTES_PER_PROJECT_MAX, type RouteEnvironment } from "@upstow/contract";
import { sql } from "#kysely";
import type { Queryable } from "../../db/database.ts";
import { insertNewTogether } from "../../db/insert-together.ts";
import { doEachTogether } from "../../db/lanes.ts";
import type { FileRouteRow } from "../../db/schema.ts";
import { isOneOf, statement } from "../../db/statement.ts";

/** Columns that an update may change. */
const settingsOf = (p: FileRouteRow) => ({
  slug: p.slug,
  allowed_types: p.allowed_types,
  max_file_size_bytes: p.max_file_size_bytes,
  webhook_url: p.webhook_url,
  environment: p.environment,
  access: p.access,
  expire_after_days: p.expire_after_days,
  claim_within_sec: p.claim_within_sec,
  keep_location: p.keep_location,
  check_content: p.check_content,
  strip_metadata: p.strip_metadata,
  scan: p.scan,
  scan_unknown: p.scan_unknown,
  form_origins: p.form_origins,
  updated_at: p.updated_at,
});

/** False if the slug is taken. */
export const addRoute = insertNewTogether<FileRouteRow>(
  "file_route",
  {
    id: "text",
    project_id: "text",
    slug: "text",
    allowed_types: "text",
    max_file_size_bytes: "bigint",
    webhook_url: "text",
    environment: "text",
    access: "text",
    expire_after_days: "bigint",
    claim_within_sec: "bigint",
    keep_location: "bigint",
    check_content: "text",
    strip_metadata: "text",
    scan: "bigint",
    scan_unknown: "text",
    form_origins: "text",
    created_at: "bigint",
    updated_at: "bigint",
  },
  ["project_id", "slug"],
);

/** Every project has one; it accepts everything. */
export const insertDefaultRoute = statement((q, p: { id: string; projectId: string; now: number }) =>
  q.insertInto("file_route").values({
    id: p.id,
    project_id: p.projectId,
    slug: "default",
    allowed_types: "[]",
    max_file_size_bytes: null,
    webhook_url: null,
    environment: "all",
    access: "public",
    expire_after_days: null,
    claim_within_sec: null,
    keep_location: 0,
    check_content: "off",
    strip_metadata: "off",
    scan: 0,
    scan_unknown: "refuse",
    form_origins: "[]",
    created_at: p.now,
    updated_at: p.now,
  }),
);

/** Reserves some of the project's route slots; no row changes if too few are left. The condition is the lock. */
export const takeRoutePlaces = statement((q, p: { projectId: string; count: number }) =>
  q
    .updateTable("project")
    .set({ route_count: sql`route_count + cast(${p.count} as bigint)` })
    .where("id", "=", p.projectId)
    .where(sql<boolean>`route_count + cast(${p.count} as bigint) <= ${sql.lit(ROUTES_PER_PROJECT_MAX)}`),
);

export const freeRoutePlaces = statement((q, p: { projectId: string; count: number }) =>
  q
    .updateTable("project")
    .set({ route_count: sql`route_count - cast(${p.count} as bigint)` })
    .where("id", "=", p.projectId),
);

/** The newest first. */
export const listRoutes = statement((q, p: { projectId: string; before: string; take: number }) =>
  q
    .selectFrom("file_route")
    .selectAll()
    .where("project_id", "=", p.projectId)
    .where("id", "<", p.before)
    .orderBy("id", "desc")
    .limit(p.take),
);

/** Where each route's events go now. */
export const listRouteUrls = statement((q, p: { projectId: string }) =>
  q
    .selectFrom("file_route")
    .select(["slug", "webhook_url", "environment"])
    .where("project_id", "=", p.projectId)
    .orderBy("id", "desc")
    .limit(ROUTES_PER_PROJECT_MAX),
);

export const findRouteRow = statement((q, p: { id: string; projectId: string }) =>
  q.selectFrom("file_route").selectAll().where("id", "=", p.id).where("project_id", "=", p.projectId),
);

export const findRouteBySlug = statement((q, p: { slug: string; projectId: string }) =>
  q.selectFrom("file_route").selectAll().where("slug", "=", p.slug).where("project_id", "=", p.projectId),
);

/** Guarded by the value read, so that two editors cannot silently overwrite each other's fields. */
export const updateRouteRow = statement((q, p: FileRouteRow & { seenUpdatedAt: number }) =>
  q
    .updateTable("file_route")
    .set(settingsOf(p))
    .where("id", "=", p.id)
    .where("updated_at", "=", p.seenUpdatedAt)
    .returningAll(),
);

interface Renamed {
  projectId: string;
  environment: RouteEnvironment;
  oldSlug: string;
  newSlug: string;
}

/** The conditions are literals so that partial indexes apply; keys stay as they were signed. */
const moveFiles = (isUnfinished: string) =>
  statement((q, p: Renamed) =>
    q
      .updateTable("file")
      .set({ route_slug: p.newSlug })
      .where(sql.raw<boolean>(isUnfinished))
      .where("project_id", "=", p.projectId)
      .where("route_slug", "=", p.oldSlug)
      .where(sql<boolean>`cast(${p.environment} as text) in ('all', environment)`),
  );

export const moveOpenUploads = moveFiles("status = 'UPLOADING'");
export const moveUnscannedFiles = moveFiles("scan_due_at is not null and status = 'UPLOADED'");

const deleteRoute = statement((q, p: { id: string; projectId: string }) =>
  q.deleteFrom("file_route").where("id", "=", p.id).where("project_id", "=", p.projectId).returningAll(),
);

const deleteRoutes = statement((q, p: { ids: string; projectId: string }) =>
  q
    .deleteFrom("file_route")
    .where(isOneOf("postgres", "id", p.ids))
    .where("project_id", "=", p.projectId)
    .returningAll(),
);

const deleteGathered = doEachTogether<{ id: string; projectId: string }, FileRouteRow>((tx, routes) => {
  const projectId = routes[0]?.projectId ?? "";
  return tx.all(deleteRoutes, { ids: JSON.stringify(routes.map(({ id }) => id)), projectId });
});

/** The deleted row, or null. Callers that share a transaction delete together. */
export function removeRoute(
  tx: Queryable,
  route: { id: string; projectId: string },
): Promise<FileRouteRow | null> {
  return tx.dialect === "sqlite" ? tx.get(deleteRoute, route) : deleteGathered(tx, route.projectId, route);
}
