import { sql } from "#kysely";
import { databaseNow, isOneOf, leaseEnd, statement } from "../../db/statement.ts";
import { readable } from "../../files/life.ts";

// Conditions on state are literals, to match those of the index.

/** The next project with an image that is due, and that image. */
export const findDueFacts = statement((q, p: { projectId: string }, dialect) =>
  q
    .selectFrom("file")
    .select(["id", "project_id", "facts_due_at"])
    .where(sql<boolean>`facts_due_at is not null and status = 'UPLOADED'`)
    .where("project_id", ">", p.projectId)
    .where("facts_due_at", "<=", databaseNow(dialect))
    .orderBy("project_id")
    .orderBy("facts_due_at")
    .limit(1),
);

/** No row if another worker was faster. */
export const claimFacts = statement((q, p: { id: string; seen: number; leaseMs: number }, dialect) =>
  q
    .updateTable("file")
    .set({ facts_due_at: leaseEnd(dialect, p.leaseMs) })
    .where("id", "=", p.id)
    .where("facts_due_at", "=", p.seen)
    .where("status", "=", "UPLOADED")
    .returningAll(),
);

/** Whoever comes first: all who looked found the same. */
export const saveFacts = statement((q, p: { id: string; image: string }) =>
  q
    .updateTable("file")
    .set({ image: p.image, facts_due_at: null })
    .where("id", "=", p.id)
    .where("facts_due_at", "is not", null),
);

/** Counting more would take longer than a scrape should. */
export const mostDueCounted = 100_000;

export const countDueFacts = statement((q, _: object) =>
  q
    .selectFrom((inner) =>
      inner
        .selectFrom("file")
        .select("id")
        .where(sql<boolean>`facts_due_at is not null and status = 'UPLOADED'`)
        .limit(mostDueCounted)
        .as("counted"),
    )
    .select(sql<number>`count(*)`.as("count")),
);

export const listForBackfill = statement((q, p: { after: string; take: number }) =>
  q
    .selectFrom("file")
    .select(["id", "type", "store", "status", "image", "facts_due_at"])
    .where("id", ">", p.after)
    .orderBy("id")
    .limit(p.take),
);

/** Only those that are still without facts, or with none, if those are to be tried again. */
export const markFactsDue = statement((q, p: { idsJson: string; retries: number }, dialect) =>
  q
    .updateTable("file")
    .set({ facts_due_at: sql.lit(0) })
    .where(isOneOf(dialect, "id", p.idsJson))
    .where(readable)
    .where("facts_due_at", "is", null)
    .where((e) =>
      e.or([
        e("image", "is", null),
        e.and([e("image", "=", "null"), sql<boolean>`cast(${p.retries} as bigint) = 1`]),
      ]),
    ),
);
