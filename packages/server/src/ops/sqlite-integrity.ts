import { sql } from "#kysely";
import type { Queryable } from "../db/database.ts";
import { statement } from "../db/statement.ts";

const checkPages = statement((q, _: object) =>
  q.selectNoFrom(sql<string>`(select group_concat(quick_check, '; ') from pragma_quick_check)`.as("result")),
);

/** What is wrong inside an embedded database's file, or null. */
export async function findDamage(db: Queryable): Promise<string | null> {
  const pages = await db.get(checkPages, {});
  return pages?.result === "ok" ? null : (pages?.result ?? "it gives no answer").slice(0, 200);
}
