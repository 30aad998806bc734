import { sql } from "#kysely";
import { statement } from "../../db/statement.ts";

export const findCdnUrl = statement((q, p: { projectId: string }) =>
  q
    .selectFrom("project")
    .select("cdn_url as cdnUrl")
    .where("id", "=", p.projectId)
    .where("deleted_at", "is", null),
);

/** A deleted project keeps its domain, whose files are served, until another one takes it. */
export const findProjectOfDomain = statement((q, p: { cdnUrl: string }) =>
  q
    .selectFrom("project")
    .select("id")
    .where("cdn_url", "=", p.cdnUrl)
    .orderBy(sql`case when deleted_at is null then 0 else 1 end`)
    .orderBy("id", "desc")
    .limit(1),
);

export const setCdnUrl = statement((q, p: { projectId: string; cdnUrl: string | null; now: number }) =>
  q
    .updateTable("project")
    .set({ cdn_url: p.cdnUrl, updated_at: p.now })
    .where("id", "=", p.projectId)
    .where("deleted_at", "is", null)
    .returning("id"),
);
