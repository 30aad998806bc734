import { statement } from "../../db/statement.ts";

export const findCdnUrl = statement((q, p: { projectId: string }) =>
  q
    .selectFrom("project")
    .select("cdn_url as cdnUrl")
    .where("id", "=", p.projectId)
    .where("deleted_at", "is", null),
);

export const setCdnUrl = statement((q, p: { projectId: string; cdnUrl: string | null; now: number }) =>
  q
    .updateTable("project")
    .set({ cdn_url: p.cdnUrl, updated_at: p.now })
    .where("id", "=", p.projectId)
    .where("deleted_at", "is", null)
    .returning("id"),
);
