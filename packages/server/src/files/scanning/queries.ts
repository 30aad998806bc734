import { sql } from "#kysely";
import { statement } from "../../db/statement.ts";
import { notEnded } from "../life.ts";
import { deletedColumns } from "../queries.ts";

// Conditions on state are literals, to match those of the index.
const isWaiting = sql<boolean>`scan_due_at is not null and status = 'UPLOADED'`;

/** The next project with a file that is due, and that file. */
export const findDueScan = statement((q, p: { projectId: string; now: number }) =>
  q
    .selectFrom("file")
    .select(["id", "project_id", "scan_due_at", "store"])
    .where(isWaiting)
    .where("project_id", ">", p.projectId)
    .where("scan_due_at", "<=", p.now)
    .orderBy("project_id")
    .orderBy("scan_due_at")
    .limit(1),
);

/** The writer of `seen` holds the file until that time. */
interface HeldScan {
  id: string;
  seen: number;
}

/** Of all that take it over, hand it back or extend their lease, one wins. */
export const moveScan = statement((q, p: HeldScan & { dueAt: number }) =>
  q
    .updateTable("file")
    .set({ scan_due_at: p.dueAt })
    .where("id", "=", p.id)
    .where("scan_due_at", "=", p.seen)
    .where("status", "=", "UPLOADED")
    .returningAll(),
);

interface Judged {
  id: string;
  /** The value that was read: if the route was renamed since, the verdict is found again. */
  routeSlug: string;
  now: number;
}

/** Of all verdicts on a file, and of its deletions and its end, one wins. */
export const markReadable = statement(
  (q, p: Judged & { scan: "clean" | "unscanned"; claimBy: number | null; factsDueAt: 0 | null }) =>
    q
      .updateTable("file")
      .set({
        scan: p.scan,
        scan_due_at: null,
        updated_at: p.now,
        claim_by: sql`case when claim_by is not null then cast(${p.claimBy} as bigint) end`,
        facts_due_at: p.factsDueAt,
      })
      .where("id", "=", p.id)
      .where("route_slug", "=", p.routeSlug)
      .where("status", "=", "UPLOADED")
      .where("scan", "=", "pending")
      .where(notEnded(p.now))
      .returningAll(),
);

/** For good: nothing infected goes to the trash. */
export const markInfected = statement((q, p: { id: string; now: number }) =>
  q
    .updateTable("file")
    .set({ status: "DELETED", scan: "infected", scan_due_at: null, purge_at: null, updated_at: p.now })
    .where("id", "=", p.id)
    .where("status", "=", "UPLOADED")
    .where("scan", "=", "pending")
    .returning(deletedColumns),
);

/** Looks like any other failed upload from then on. */
export const markUnscanned = statement((q, p: Judged) =>
  q
    .updateTable("file")
    .set({
      status: "FAILED",
      scan: "unscanned",
      scan_due_at: null,
      etag: null,
      sha256: null,
      completed_at: null,
      updated_at: p.now,
    })
    .where("id", "=", p.id)
    .where("route_slug", "=", p.routeSlug)
    .where("status", "=", "UPLOADED")
    .where("scan", "=", "pending"),
);

/** Counting more would take longer than a scrape should. */
export const mostPendingCounted = 100_000;

export const countPendingScans = statement((q, _: object) =>
  q
    .selectFrom((inner) =>
      inner.selectFrom("file").select("id").where(isWaiting).limit(mostPendingCounted).as("counted"),
    )
    .select(sql<number>`count(*)`.as("count")),
);
