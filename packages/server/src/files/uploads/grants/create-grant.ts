import { type CreateUploadGrantBody, UPLOAD_GRANT_SEC, type UploadGrant } from "@upstow/contract";
import type { Queryable } from "../../../db/database.ts";
import { inSteps } from "../../../db/job-leases.ts";
import type { FileRouteRow, UploadGrantRow } from "../../../db/schema.ts";
import type { Deps } from "../../../deps.ts";
import type { Actor } from "../../../kernel/actor.ts";
import { invalid, notFound } from "../../../kernel/errors.ts";
import { createId } from "../../../kernel/ids.ts";
import { isoTime } from "../../../kernel/iso-time.ts";
import { recordUnlessKey } from "../../../projects/audit/record.ts";
import { findRoute, requireServes } from "../../../projects/file-routes/find-route.ts";
import { writeLog } from "../../../projects/logs/queries.ts";
import { isAllowedType } from "../media-type.ts";
import { accessFor, serialiseMetadata } from "../rules.ts";
import { deleteEndedGrants, insertUploadGrant } from "./queries.ts";
import { createSignedIds } from "./token.ts";

/** What is kept of a grant for a repeated call. */
export type GivenGrant = Pick<UploadGrantRow, "id" | "expires_at">;

type OnSaved = (tx: Queryable, grant: GivenGrant) => Promise<void>;

export async function createUploadGrant(
  deps: Deps,
  actor: Actor,
  body: CreateUploadGrantBody,
  onSaved: OnSaved,
): Promise<GivenGrant> {
  const metadata = serialiseMetadata(body.metadata ?? {});
  const route = await findRoute(deps.db, actor.projectId, body.routeSlug);
  if (route === null) throw notFound(`File route "${body.routeSlug}"`);
  requireServes(route, actor.environment);
  if (body.access !== undefined) accessFor(route, body.access);
  checkTypes(route, body.allowedTypes ?? []);
  const now = deps.now();
  const { projectId, environment } = actor;
  const grant: UploadGrantRow = {
    id: createId(now),
    project_id: projectId,
    environment,
    key_id: deps.author.kind === "key" ? actor.keyId : null,
    route_id: route.id,
    max_files: body.maxFiles ?? 1,
    taken_files: 0,
    max_file_size_bytes: body.maxFileSize ?? null,
    allowed_types: body.allowedTypes === undefined ? null : JSON.stringify(body.allowedTypes),
    metadata,
    access: body.access ?? null,
    audience: body.audience ?? null,
    created_at: now,
    expires_at: now + (body.expiresIn ?? UPLOAD_GRANT_SEC) * 1000,
  };
  const shown = {
    kind: "upload",
    value: route.slug,
    expiresAt: isoTime(grant.expires_at),
  };
  await deps.db.transact(async (tx) => {
    await tx.run(insertUploadGrant, grant);
    await writeLog(tx, now, {
      projectId,
      environment,
      type: "grant.created",
      message: `A grant to upload to the file route "${route.slug}" was created.`,
      data: { ...shown, maxFiles: grant.max_files },
    });
    await recordUnlessKey(tx, now, deps.author, {
      action: "grant.created",
      target: { kind: "environment", id: environment },
      projectId,
      after: shown,
    });
    await onSaved(tx, { id: grant.id, expires_at: grant.expires_at });
  });
  return grant;
}

/** A grant narrows what its route accepts. */
function checkTypes(route: FileRouteRow, types: string[]): void {
  const accepted: string[] = JSON.parse(route.allowed_types);
  const foreign = types.find((type) => !isAllowedType(accepted, type));
  if (foreign === undefined) return;
  throw invalid(
    "allowedTypes",
    `names ${foreign}, which the file route "${route.slug}" does not accept`,
    `Accepted: ${accepted.join(", ")}.`,
  );
}

/** The same token each time, so that a repeated call gets the first one's. */
export function showGrant(deps: Pick<Deps, "keyring">, given: GivenGrant): UploadGrant {
  return { token: uploadGrantTokens(deps).sign(given.id), expiresAt: isoTime(given.expires_at) };
}

export const uploadGrantTokens = ({ keyring }: Pick<Deps, "keyring">) =>
  createSignedIds(keyring, "upload grant", "upg_");

/** For as long as its holder should hear that it has ended, not that it never was. */
const keptMs = 7 * 24 * 60 * 60 * 1000;

export const forgetEndedGrants = ({ db, now }: Deps, signal: AbortSignal): Promise<void> =>
  inSteps((take) => db.run(deleteEndedGrants, { before: now() - keptMs, take }), signal);
