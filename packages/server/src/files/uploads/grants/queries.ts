import { UPLOAD_GRANT_REJECTED_MAX } from "@upstow/contract";
import { type QueryCreator, sql } from "#kysely";
import type { Schema, UploadGrantRow } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { actorColumns } from "../../../projects/accounts/queries.ts";

export const insertUploadGrant = statement((q, p: UploadGrantRow) =>
  q.insertInto("upload_grant").values({
    id: p.id,
    project_id: p.project_id,
    environment: p.environment,
    key_id: p.key_id,
    route_id: p.route_id,
    max_files: p.max_files,
    taken_files: p.taken_files,
    refused_files: p.refused_files,
    max_file_size_bytes: p.max_file_size_bytes,
    allowed_types: p.allowed_types,
    metadata: p.metadata,
    access: p.access,
    audience: p.audience,
    created_at: p.created_at,
    expires_at: p.expires_at,
  }),
);

/** A grant and the actor behind it. None if its key was revoked or its project deleted. */
export const findUploadGrant = statement((q, p: { id: string }) =>
  q
    .selectFrom("upload_grant")
    .innerJoin("project", "project.id", "upload_grant.project_id")
    .innerJoin("account", "account.id", "project.account_id")
    .leftJoin("api_key", "api_key.id", "upload_grant.key_id")
    .leftJoin("file_route", "file_route.id", "upload_grant.route_id")
    .where("upload_grant.id", "=", p.id)
    .where("project.deleted_at", "is", null)
    .where((e) => e.or([e("upload_grant.key_id", "is", null), e("api_key.id", "is not", null)]))
    .where("api_key.revoked_at", "is", null)
    .selectAll("upload_grant")
    .select(["file_route.slug as route_slug", ...actorColumns]),
);

export type FoundUploadGrant = NonNullable<(typeof findUploadGrant)["types"]>["row"];

/** The condition is the guard: of all callers, only as many get a place as there are. */
export const takePlace = statement((q, p: { id: string; now: number }) =>
  q
    .updateTable("upload_grant")
    .set({ taken_files: sql`taken_files + 1` })
    .where("id", "=", p.id)
    .where("expires_at", ">", p.now)
    .where(sql<boolean>`taken_files < max_files`),
);

/** Of partial uploads that became one file, or of files of which nothing is left. */
export const givePlacesBack = statement((q, p: { id: string; count: number }) =>
  q
    .updateTable("upload_grant")
    .set({ taken_files: sql`taken_files - cast(${p.count} as bigint)` })
    .where("id", "=", p.id),
);

/** Of a file whose content was rejected. Such files leave a row, so one grant must not make any number of them. */
export const giveRefusedPlaceBack = statement((q, p: { id: string }) =>
  q
    .updateTable("upload_grant")
    .set({ taken_files: sql`taken_files - 1`, refused_files: sql`refused_files + 1` })
    .where("id", "=", p.id)
    .where("refused_files", "<", UPLOAD_GRANT_REJECTED_MAX),
);

const ended = (q: QueryCreator<Schema>, before: number, take: number) =>
  q
    .selectFrom("upload_grant")
    .select("id")
    .where("expires_at", "<", before)
    .orderBy("expires_at")
    .limit(take);

export const deleteEndedGrants = statement((q, p: { before: number; take: number }) =>
  q.deleteFrom("upload_grant").where("id", "in", ended(q, p.before, p.take)),
);
