import type { Environment } from "@upstow/contract";
import { type QueryCreator, sql } from "#kysely";
import type { CountedLinkRow, FileRow, Schema } from "../../db/schema.ts";
import { isOneOf, statement } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import { notEnded, readable } from "../../files/life.ts";
import type { NamedFile } from "../../files/serialize.ts";
import { servedColumns } from "../queries.ts";

interface Scope {
  projectId: string;
  environment: Environment;
}

/** A file with the keys that verify its links and the times that ended them. */
const readableFiles = (q: QueryCreator<Schema>) =>
  q
    .selectFrom("file")
    .leftJoin("read_key", (join) =>
      join
        .onRef("read_key.project_id", "=", "file.project_id")
        .onRef("read_key.environment", "=", "file.environment"),
    )
    .leftJoin("audience_revocation", (join) =>
      join
        .onRef("audience_revocation.project_id", "=", "file.project_id")
        .onRef("audience_revocation.environment", "=", "file.environment")
        .onRef("audience_revocation.audience", "=", "file.audience"),
    )
    .select([
      ...servedColumns,
      "file.route_slug",
      "file.audience",
      "file.links_revoked_at",
      "read_key.current_sealed",
      "read_key.next_sealed",
      sql<number>`coalesce(read_key.revoked_at, 0)`.as("all_revoked_at"),
      sql<number>`coalesce(audience_revocation.revoked_at, 0)`.as("audience_revoked_at"),
    ])
    .where(readable);

export const findLinkedFile = statement((q, p: { id: string }) =>
  readableFiles(q).where("file.id", "=", p.id),
);

export const findGrantedFile = statement((q, p: NamedFile) =>
  readableFiles(q).where("file.id", "=", p.id).where("file.key", "=", p.key),
);

export type ReadableFile = NonNullable<(typeof findLinkedFile)["types"]>["row"];

/** The last revocation that affects a private file. Null for public files, whose variants cannot be revoked. */
export async function findRevocationMark(
  { db }: Pick<Deps, "db">,
  { id, access }: Pick<FileRow, "id" | "access">,
): Promise<number | null> {
  if (access === "public") return null;
  return lastRevocationOf(await db.recall(findLinkedFile, { id }));
}

/** Links signed at this time or earlier have ended. */
export function lastRevocationOf(file: Readonly<ReadableFile> | null): number {
  return file === null ? 0 : Math.max(file.links_revoked_at, file.audience_revoked_at, file.all_revoked_at);
}

/** Files to create links for, by key or id, with the times that ended earlier links. */
export const listLinkable = statement(
  (q, p: Scope & { idsJson: string; namesJson: string; take: number; now: number }, dialect) =>
    q
      .selectFrom("file")
      .leftJoin("audience_revocation", (join) =>
        join
          .onRef("audience_revocation.project_id", "=", "file.project_id")
          .onRef("audience_revocation.environment", "=", "file.environment")
          .onRef("audience_revocation.audience", "=", "file.audience"),
      )
      .select([
        "file.id",
        "file.key",
        "file.name",
        "file.links_revoked_at",
        sql<number>`coalesce(audience_revocation.revoked_at, 0)`.as("audience_revoked_at"),
      ])
      .where(isOneOf(dialect, "file.id", p.idsJson))
      .where((e) =>
        e.or([isOneOf(dialect, "file.key", p.namesJson), isOneOf(dialect, "file.id", p.namesJson)]),
      )
      .where("file.project_id", "=", p.projectId)
      .where("file.environment", "=", p.environment)
      .where("file.status", "=", "UPLOADED")
      .where(notEnded(p.now))
      .limit(p.take),
);

export type LinkableFile = NonNullable<(typeof listLinkable)["types"]>["row"];

/** Never moves back, even if the clock of this instance is behind. */
const later = (column: string, now: number) =>
  sql<number>`case when ${sql.ref(column)} < ${now} then ${now} else ${sql.ref(column)} end`;

export const revokeFiles = statement(
  (q, p: Scope & { idsJson: string; namesJson: string; now: number }, dialect) =>
    q
      .updateTable("file")
      .set({ links_revoked_at: later("links_revoked_at", p.now) })
      .where(isOneOf(dialect, "id", p.idsJson))
      .where((e) => e.or([isOneOf(dialect, "key", p.namesJson), isOneOf(dialect, "id", p.namesJson)]))
      .where("project_id", "=", p.projectId)
      .where("environment", "=", p.environment)
      .where("status", "<>", "DELETED")
      .where(notEnded(p.now))
      .returning(["id", "key", "name"]),
);

export const revokeAudience = statement((q, p: Scope & { audience: string; now: number }) =>
  q
    .insertInto("audience_revocation")
    .values({
      project_id: p.projectId,
      environment: p.environment,
      audience: p.audience,
      revoked_at: p.now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["project_id", "environment", "audience"])
        .doUpdateSet({ revoked_at: later("audience_revocation.revoked_at", p.now) }),
    ),
);

export const revokeAll = statement((q, p: Scope & { now: number }) =>
  q
    .updateTable("read_key")
    .set({ revoked_at: later("revoked_at", p.now) })
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment),
);

export const findAudienceRevocation = statement((q, p: Scope & { audience: string }) =>
  q
    .selectFrom("audience_revocation")
    .select("revoked_at")
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("audience", "=", p.audience),
);

// bounded: each has taken one of the places of its file
export const countOpenLinks = statement((q, p: { fileId: string; now: number }) =>
  q
    .selectFrom("counted_link")
    .select(sql<number>`count(*)`.as("count"))
    .where("file_id", "=", p.fileId)
    .where("expires_at", ">", p.now),
);

export const insertCountedLink = statement((q, p: CountedLinkRow) =>
  q.insertInto("counted_link").values({
    id: p.id,
    file_id: p.file_id,
    max_uses: p.max_uses,
    uses: 0,
    created_at: p.created_at,
    expires_at: p.expires_at,
  }),
);

/** Those that have neither expired nor been revoked. */
export const listCountedLinks = statement(
  (q, p: { fileId: string; now: number; after: number; before: string; take: number }) =>
    q
      .selectFrom("counted_link")
      .selectAll()
      .where("file_id", "=", p.fileId)
      .where("expires_at", ">", p.now)
      .where("created_at", ">", p.after)
      .where("id", "<", p.before)
      .orderBy("id", "desc")
      .limit(p.take),
);

/** The condition is the guard: only one caller gets the last use. */
export const takeUse = statement((q, p: { id: string; fileId: string }) =>
  q
    .updateTable("counted_link")
    .set({ uses: sql`uses + 1` })
    .where("id", "=", p.id)
    .where("file_id", "=", p.fileId)
    .where(sql<boolean>`uses < max_uses`),
);

/** Only by the transaction that took it. */
export const returnUse = statement((q, p: { id: string; fileId: string }) =>
  q
    .updateTable("counted_link")
    .set({ uses: sql`uses - 1` })
    .where("id", "=", p.id)
    .where("file_id", "=", p.fileId),
);

export const findUnused = statement((q, p: { id: string; fileId: string }) =>
  q
    .selectFrom("counted_link")
    .select("id")
    .where("id", "=", p.id)
    .where("file_id", "=", p.fileId)
    .where(sql<boolean>`uses < max_uses`),
);

export const findUse = statement((q, p: { linkId: string; client: string; since: number }) =>
  q
    .selectFrom("counted_link_use")
    .select("opened_at")
    .where("link_id", "=", p.linkId)
    .where("client", "=", p.client)
    .where("opened_at", ">", p.since),
);

export const noteUse = statement((q, p: { linkId: string; client: string; now: number }) =>
  q
    .insertInto("counted_link_use")
    .values({ link_id: p.linkId, client: p.client, opened_at: p.now })
    .onConflict((conflict) =>
      conflict.columns(["link_id", "client"]).doUpdateSet({ opened_at: sql`excluded.opened_at` }),
    ),
);

interface EndedLinks {
  now: number;
  take: number;
}

const ended = (q: QueryCreator<Schema>, { now, take }: EndedLinks) =>
  q
    .selectFrom("counted_link")
    .select("id")
    .where("expires_at", "<=", now)
    .orderBy("expires_at")
    .orderBy("id")
    .limit(take);

/** Deleted before the links, so that none are orphaned. */
export const deleteUsesOfEnded = statement((q, p: EndedLinks) =>
  q.deleteFrom("counted_link_use").where(
    sql<boolean>`(link_id, client) in (select link_id, client from counted_link_use
        where link_id in ${ended(q, p)} limit ${p.take})`,
  ),
);

export const deleteEndedLinks = statement((q, p: EndedLinks) =>
  q.deleteFrom("counted_link").where("id", "in", ended(q, p)),
);

export const deleteOldRevocations = statement((q, p: { before: number; take: number }) =>
  q.deleteFrom("audience_revocation").where(
    sql<boolean>`(project_id, environment, audience) in (select project_id, environment, audience
        from audience_revocation where revoked_at < ${p.before} order by revoked_at limit ${p.take})`,
  ),
);
