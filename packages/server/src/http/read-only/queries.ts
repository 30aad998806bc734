import type { RelocationName } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";

// bounded: one row per kind of move
export const listReasons = statement((q, _: object) =>
  q.selectFrom("read_only").selectAll().orderBy("reason"),
);

export const insertReason = statement((q, p: { reason: RelocationName; since: number }) =>
  q
    .insertInto("read_only")
    .values({ reason: p.reason, since: p.since })
    .onConflict((conflict) => conflict.column("reason").doNothing()),
);

export const deleteReason = statement((q, p: { reason: RelocationName }) =>
  q.deleteFrom("read_only").where("reason", "=", p.reason),
);

export const findRelocation = statement((q, p: { name: RelocationName }) =>
  q.selectFrom("relocation").selectAll().where("name", "=", p.name),
);
