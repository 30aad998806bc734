import { IDEMPOTENCY_RETENTION_HOURS } from "@upstow/contract";
import { sql } from "#kysely";
import { databaseNow, leaseEnd, statement } from "../db/statement.ts";

const keptMs = IDEMPOTENCY_RETENTION_HOURS * 60 * 60 * 1000;

/** Claims the work of a new call, of one whose worker died, or of one older than a day. */
export const claimCall = statement(
  (q, p: { scope: string; requestHash: string; claim: string; leaseMs: number }, dialect) => {
    const now = databaseNow(dialect);
    return q
      .insertInto("idempotency")
      .values({
        scope: p.scope,
        request_hash: p.requestHash,
        claim: p.claim,
        lease_until: leaseEnd(dialect, p.leaseMs),
        status: null,
        response: null,
        created_at: now,
      })
      .onConflict((conflict) =>
        conflict
          .column("scope")
          .doUpdateSet({
            request_hash: (set) => set.ref("excluded.request_hash"),
            claim: (set) => set.ref("excluded.claim"),
            lease_until: (set) => set.ref("excluded.lease_until"),
            status: null,
            response: null,
            // Kept if the first worker died, which tells its successor so.
            created_at: sql`case when idempotency.status is null and idempotency.created_at >= ${now} - ${sql.lit(keptMs)}
              then idempotency.created_at else excluded.created_at end`,
          })
          .where(
            sql<boolean>`(idempotency.status is null and idempotency.lease_until < ${now})
              or idempotency.created_at < ${now} - ${sql.lit(keptMs)}`,
          ),
      )
      .returning(["created_at", "lease_until"]);
  },
);

export const extendClaim = statement((q, p: { scope: string; claim: string; leaseMs: number }, dialect) =>
  q
    .updateTable("idempotency")
    .set({ lease_until: leaseEnd(dialect, p.leaseMs) })
    .where("scope", "=", p.scope)
    .where("claim", "=", p.claim)
    .where("status", "is", null),
);

export const findCall = statement((q, p: { scope: string }) =>
  q.selectFrom("idempotency").select(["request_hash", "status", "response"]).where("scope", "=", p.scope),
);

export const recordAnswer = statement(
  (q, p: { scope: string; claim: string; status: number; response: string }) =>
    q
      .updateTable("idempotency")
      .set({ status: p.status, response: p.response })
      .where("scope", "=", p.scope)
      .where("claim", "=", p.claim)
      .where("status", "is", null),
);

export const dropClaim = statement((q, p: { scope: string; claim: string }) =>
  q
    .deleteFrom("idempotency")
    .where("scope", "=", p.scope)
    .where("claim", "=", p.claim)
    .where("status", "is", null),
);

export const deleteOldCalls = statement((q, p: { take: number }, dialect) =>
  q.deleteFrom("idempotency").where(
    "scope",
    "in",
    q
      .selectFrom("idempotency")
      .select("scope")
      .where(sql<boolean>`created_at < ${databaseNow(dialect)} - ${sql.lit(keptMs)}`)
      .orderBy("created_at")
      .limit(p.take),
  ),
);
