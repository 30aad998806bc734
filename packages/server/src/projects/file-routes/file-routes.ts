import {
  ALLOWED_TYPES_MAX_BYTES,
  type CreateRouterBody,
  ROUTES_PER_PROJECT_MAX,
  type RouteEnvironment,
  type UpdateRouterBody,
} from "@upstow/contract";
import { type Queryable, UniqueViolation, withCommit } from "../../db/database.ts";
import { gather } from "../../db/lanes.ts";
import type { FileRouteRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import type { Actor } from "../../kernel/actor.ts";
import { AppError, invalid, notFound, refusedUrl, unauthorized } from "../../kernel/errors.ts";
import { createId } from "../../kernel/ids.ts";
import { record } from "../audit/record.ts";
import { writeLog } from "../logs/queries.ts";
import {
  addRoute,
  findRouteRow,
  freeRoutePlaces,
  moveOpenUploads,
  moveUnscannedFiles,
  removeRoute,
  takeRoutePlaces,
  updateRouteRow,
} from "./queries.ts";

type OnSaved = (tx: Queryable, route: FileRouteRow) => Promise<void>;

export async function createRoute(
  deps: Deps,
  actor: Actor,
  body: CreateRouterBody,
  onSaved: OnSaved,
): Promise<FileRouteRow> {
  const environment = body.environment ?? "all";
  mayChange(actor, environment);
  checkAllowedTypes(body.allowedTypes);
  checkFormOrigins(body.formOrigins);
  checkScan(deps.config, body.scan);
  await checkWebhookUrl(deps, body.webhookUrl);
  const now = deps.now();
  const route = newRoute(actor.projectId, environment, body, now);
  await deps.db.transact(async (tx) => {
    // Sent together, to lock the project for only one round trip. The lock comes first: creations with the same slugs,
    // in another order, could otherwise wait for each other.
    const place = takePlaces(tx, actor.projectId, { projectId: actor.projectId, count: 1 });
    const inserted = Promise.resolve().then(() => addRoute(tx, route));
    const saved = onSaved(tx, route);
    inserted.catch(() => {});
    saved.catch(() => {});
    await place;
    if (!(await inserted)) throw duplicateSlug(body.slug);
    await saved;
    // With the commit, like those of deletions, with which they share statements.
    await withCommit(tx, () =>
      Promise.all([
        logChange(tx, now, actor, "router.created", route.slug),
        record(tx, now, deps.author, { action: "route.created", ...target(route), after: route }),
      ]),
    );
  }, actor.projectId);
  return route;
}

interface Places {
  projectId: string;
  count: number;
}

/** Routes that are created in one transaction take their places together; where these are too many, one by one. */
const takePlaces = gather<Places>(
  (sum, more) => {
    sum.count += more.count;
  },
  async (tx, places) => {
    if ((await tx.run(takeRoutePlaces, places)) === 0) throw tooManyRoutes();
  },
);

function newRoute(
  projectId: string,
  environment: RouteEnvironment,
  body: CreateRouterBody,
  now: number,
): FileRouteRow {
  return {
    id: createId(now),
    project_id: projectId,
    slug: body.slug,
    allowed_types: JSON.stringify(body.allowedTypes ?? []),
    max_file_size_bytes: body.maxFileSize ?? null,
    webhook_url: body.webhookUrl ?? null,
    environment,
    access: body.access ?? "public",
    expire_after_days: body.expireAfterDays ?? null,
    claim_within_sec: body.claimWithin ?? null,
    keep_location: Number(body.keepLocation ?? false),
    check_content: body.checkContent ?? "off",
    strip_metadata: body.stripMetadata ?? "off",
    scan: Number(body.scan ?? false),
    scan_unknown: body.scanUnknown ?? "refuse",
    form_origins: JSON.stringify(body.formOrigins ?? []),
    created_at: now,
    updated_at: now,
  };
}

export async function getRoute(deps: Deps, actor: Actor, id: string): Promise<FileRouteRow> {
  const route = await deps.db.get(findRouteRow, { id, projectId: actor.projectId });
  if (route === null) throw notFound("File route");
  return route;
}

export async function updateRoute(
  deps: Deps,
  actor: Actor,
  id: string,
  body: UpdateRouterBody,
): Promise<FileRouteRow> {
  checkAllowedTypes(body.allowedTypes);
  checkFormOrigins(body.formOrigins);
  checkScan(deps.config, body.scan);
  await checkWebhookUrl(deps, body.webhookUrl);
  try {
    for (;;) {
      const updated = await deps.db.transact((tx) => mergeAndUpdate(tx, deps, actor, id, body));
      if (updated !== null) return updated;
    }
  } catch (error) {
    if (error instanceof UniqueViolation) throw duplicateSlug(body.slug ?? "");
    throw error;
  }
}

/** Null if another call changed the route since it was read; then the merge has to be repeated. */
async function mergeAndUpdate(
  tx: Queryable,
  deps: Pick<Deps, "now" | "author">,
  actor: Actor,
  id: string,
  body: UpdateRouterBody,
): Promise<FileRouteRow | null> {
  const route = await tx.get(findRouteRow, { id, projectId: actor.projectId });
  if (route === null) throw notFound("File route");
  mayChange(actor, route.environment);
  mayChange(actor, body.environment ?? route.environment);
  // Strictly later than the value read, so that the guard can distinguish any two versions.
  const now = Math.max(deps.now(), route.updated_at + 1);
  const updated = await tx.get(updateRouteRow, {
    ...route,
    slug: body.slug ?? route.slug,
    allowed_types: body.allowedTypes === undefined ? route.allowed_types : JSON.stringify(body.allowedTypes),
    max_file_size_bytes: orBefore(body.maxFileSize, route.max_file_size_bytes),
    webhook_url: orBefore(body.webhookUrl, route.webhook_url),
    environment: body.environment ?? route.environment,
    access: body.access ?? route.access,
    expire_after_days: orBefore(body.expireAfterDays, route.expire_after_days),
    claim_within_sec: orBefore(body.claimWithin, route.claim_within_sec),
    form_origins: body.formOrigins === undefined ? route.form_origins : JSON.stringify(body.formOrigins),
    keep_location: body.keepLocation === undefined ? route.keep_location : Number(body.keepLocation),
    check_content: body.checkContent ?? route.check_content,
    strip_metadata: body.stripMetadata ?? route.strip_metadata,
    scan: body.scan === undefined ? route.scan : Number(body.scan),
    scan_unknown: body.scanUnknown ?? route.scan_unknown,
    updated_at: now,
    seenUpdatedAt: route.updated_at,
  });
  if (updated === null) return null;
  if (updated.slug !== route.slug) await takeUploadsAlong(tx, route, updated.slug);
  await logChange(tx, now, actor, "router.updated", updated.slug);
  await record(tx, now, deps.author, {
    action: "route.updated",
    ...target(updated),
    before: route,
    after: updated,
  });
  return updated;
}

/** Null is a value of its own. */
function orBefore<Value>(asked: Value | undefined, before: Value): Value {
  return asked === undefined ? before : asked;
}

/** So that the events of unfinished files still go to the webhook of their route. */
async function takeUploadsAlong(tx: Queryable, route: FileRouteRow, newSlug: string): Promise<void> {
  const { project_id: projectId, environment, slug: oldSlug } = route;
  const renamed = { projectId, environment, oldSlug, newSlug };
  await Promise.all([tx.run(moveOpenUploads, renamed), tx.run(moveUnscannedFiles, renamed)]);
}

/** Files are kept; new uploads to the slug find no route. */
export async function deleteRoute(deps: Deps, actor: Actor, id: string): Promise<void> {
  const now = deps.now();
  await deps.db.transact(async (tx) => {
    const route = await removeRoute(tx, { id, projectId: actor.projectId });
    if (route === null) throw notFound("File route");
    mayChange(actor, route.environment);
    await withCommit(tx, () =>
      Promise.all([
        freePlaces(tx, actor.projectId, { projectId: actor.projectId, count: 1 }),
        logChange(tx, now, actor, "router.deleted", route.slug),
        record(tx, now, deps.author, { action: "route.deleted", ...target(route), before: route }),
      ]),
    );
  }, actor.projectId);
}

const freePlaces = gather<Places>(
  (sum, more) => {
    sum.count += more.count;
  },
  async (tx, places) => void (await tx.run(freeRoutePlaces, places)),
);

/** A test key may only change what live traffic never uses. */
function mayChange(actor: Actor, environment: RouteEnvironment): void {
  if (actor.environment !== "test" || environment === "test") return;
  throw unauthorized(
    `a test key cannot change ${environment === "all" ? "routes of all environments" : "live routes"}`,
    'A test key changes only routes of the environment "test". Name that one, or send a live key.',
  );
}

function checkAllowedTypes(types: string[] | undefined): void {
  if (types === undefined || Buffer.byteLength(JSON.stringify(types)) <= ALLOWED_TYPES_MAX_BYTES) return;
  throw invalid(
    "allowedTypes",
    `must be at most ${ALLOWED_TYPES_MAX_BYTES} bytes as JSON; use wildcards such as image/*`,
  );
}

/** As browsers spell it, because it is compared with what they are sent to. */
function checkFormOrigins(origins: string[] = []): void {
  const wrong = origins.find((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin);
  if (wrong === undefined) return;
  throw invalid(
    "formOrigins",
    `must list origins such as https://www.example.com, not ${JSON.stringify(wrong)}`,
  );
}

/** Without a scanner its files would wait for ever. */
function checkScan({ clamd }: Deps["config"], scan: boolean | undefined): void {
  if (scan === true && clamd === null)
    throw invalid("scan", "needs a virus scanner, which this installation does not have (UPSTOW_CLAMD)");
}

async function checkWebhookUrl(deps: Deps, url: string | null | undefined): Promise<void> {
  if (url === null || url === undefined) return;
  const verdict = await deps.webhookGuard.checkUrl(url);
  if (!verdict.ok) throw refusedUrl("webhookUrl", verdict.reason, "UPSTOW_WEBHOOK_ALLOW_CIDRS");
}

function tooManyRoutes(): AppError {
  return new AppError(
    "TIER_LIMIT_EXCEEDED",
    `A project can have at most ${ROUTES_PER_PROJECT_MAX} file routes.`,
    {
      suggestion: "Delete routes you no longer use, or create another project.",
    },
  );
}

function duplicateSlug(slug: string): AppError {
  return new AppError("DUPLICATE_SLUG", `A file route with the slug "${slug}" already exists.`, {
    suggestion: "Choose another slug, or change the existing route.",
  });
}

const target = ({ id, slug, project_id }: FileRouteRow) => ({
  target: { kind: "route" as const, id, label: slug },
  projectId: project_id,
});

async function logChange(
  tx: Queryable,
  now: number,
  actor: Actor,
  type: "router.created" | "router.updated" | "router.deleted",
  slug: string,
): Promise<void> {
  const done = type.replace("router.", "");
  await writeLog(tx, now, {
    projectId: actor.projectId,
    environment: actor.environment,
    type,
    message: `File route "${slug}" was ${done}.`,
    data: { slug },
  });
}
