import type { Environment } from "@upstow/contract";
import { sql } from "#kysely";
import { databaseNow, leaseEnd, statement } from "../../db/statement.ts";
import { apartMark } from "../../storage/storage-key.ts";

/** One row if the variant was not charged in this period yet. */
export const insertUse = statement((q, p: { projectId: string; period: string; variant: string }) =>
  q
    .insertInto("transform_use")
    .values({ project_id: p.projectId, period: p.period, variant: p.variant })
    .onConflict((conflict) => conflict.columns(["project_id", "period", "variant"]).doNothing())
    .returning("variant"),
);

interface UnitScope {
  projectId: string;
  environment: Environment;
  period: string;
}

/** No row if it would exceed `limit`. The caller has checked that `units` alone fit. */
export const takeUnits = statement(
  (q, p: UnitScope & { units: number; limit: number; storedBytes: number }) =>
    q
      .insertInto("usage_period")
      .values({
        project_id: p.projectId,
        environment: p.environment,
        period: p.period,
        uploads: 0,
        reserved_uploads: 0,
        bandwidth_bytes: 0,
        transform_units: p.units,
        stored_bytes: p.storedBytes,
      })
      .onConflict((conflict) =>
        conflict
          .columns(["project_id", "environment", "period"])
          .doUpdateSet({ transform_units: sql`usage_period.transform_units + excluded.transform_units` })
          .where(
            sql<boolean>`usage_period.transform_units + excluded.transform_units <= cast(${p.limit} as bigint)`,
          ),
      )
      .returning("transform_units"),
);

export const findUnits = statement((q, p: UnitScope) =>
  q
    .selectFrom("usage_period")
    .select("transform_units")
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("period", "=", p.period),
);

export const findVariant = statement((q, p: { id: string }) =>
  q.selectFrom("variant").selectAll().where("id", "=", p.id),
);

/** Also for a deleted project, whose files may still exist. */
export const findOwner = statement((q, p: { projectId: string }) =>
  q.selectFrom("project").select("account_id").where("id", "=", p.projectId),
);

interface Claim {
  id: string;
  fileId: string;
  store: string;
  storeKey: string;
  account: string;
  recipe: string;
  claim: string;
  leaseMs: number;
  usedAt: number;
}

/** Claims a render, by the database's clock: for a new variant, or one whose claim or failure has expired. */
export const claimVariant = statement((q, p: Claim, dialect) => {
  const now = databaseNow(dialect);
  return q
    .insertInto("variant")
    .values({
      id: p.id,
      file_id: p.fileId,
      store: p.store,
      store_key: p.storeKey,
      state: "rendering",
      claim: p.claim,
      lease_until: sql<number>`${now} + cast(${p.leaseMs} as bigint)`,
      problem: null,
      recipe: p.recipe,
      size_bytes: null,
      etag: null,
      content_type: null,
      ready_at: null,
      used_at: p.usedAt,
      account_id: p.account,
    })
    .onConflict((conflict) =>
      conflict
        .column("id")
        .doUpdateSet({
          state: "rendering",
          store_key: (set) => set.ref("excluded.store_key"),
          claim: (set) => set.ref("excluded.claim"),
          lease_until: (set) => set.ref("excluded.lease_until"),
          account_id: (set) => set.ref("excluded.account_id"),
          problem: null,
        })
        .where(sql<boolean>`variant.state <> 'ready' and variant.lease_until < ${now}`),
    )
    .returning("claim");
});

export const extendVariantClaim = statement((q, p: { id: string; claim: string; leaseMs: number }, dialect) =>
  q
    .updateTable("variant")
    .set({ lease_until: leaseEnd(dialect, p.leaseMs) })
    .where("id", "=", p.id)
    .where("claim", "=", p.claim)
    .where("state", "=", "rendering"),
);

interface Ready {
  id: string;
  claim: string;
  sizeBytes: number;
  etag: string;
  contentType: string;
  now: number;
}

/**
 * Only if the claim is still held and the file exists. A variant stored next to a public file is dropped if the file was
 * made private meanwhile.
 */
export const markReady = statement((q, p: Ready) =>
  q
    .updateTable("variant")
    .set({
      state: "ready",
      size_bytes: p.sizeBytes,
      etag: p.etag,
      store_etag: null,
      content_type: p.contentType,
      ready_at: p.now,
      used_at: p.now,
    })
    .where("id", "=", p.id)
    .where("claim", "=", p.claim)
    .where("state", "=", "rendering")
    .where((where) =>
      where.exists(
        where
          .selectFrom("file")
          .select("file.id")
          .whereRef("file.id", "=", "variant.file_id")
          .where("file.status", "=", "UPLOADED")
          .where((e) =>
            e.or([e("file.access", "=", "public"), e("variant.store_key", "like", `${apartMark}%`)]),
          ),
      ),
    )
    .returningAll(),
);

export const markVariantFailed = statement(
  (q, p: { id: string; claim: string; problem: string; forMs: number }, dialect) =>
    q
      .updateTable("variant")
      .set({
        state: "failed",
        problem: p.problem,
        lease_until: leaseEnd(dialect, p.forMs),
      })
      .where("id", "=", p.id)
      .where("claim", "=", p.claim),
);

export const dropVariantClaim = statement((q, p: { id: string; claim: string }) =>
  q
    .deleteFrom("variant")
    .where("id", "=", p.id)
    .where("claim", "=", p.claim)
    .where("state", "=", "rendering"),
);

export const forgetVariant = statement((q, p: { id: string; etag: string }) =>
  q.deleteFrom("variant").where("id", "=", p.id).where("etag", "=", p.etag).returning(["store", "store_key"]),
);

export const listVariantsOfFile = statement((q, p: { fileId: string; take: number }) =>
  q
    .selectFrom("variant")
    .select(["id", "recipe", "content_type", "size_bytes", "ready_at", "used_at"])
    .where("file_id", "=", p.fileId)
    .where("state", "=", "ready")
    .orderBy("used_at", "desc")
    .limit(p.take),
);

export const setUsed = statement((q, p: { id: string; at: number }) =>
  q.updateTable("variant").set({ used_at: p.at }).where("id", "=", p.id).where("used_at", "<", p.at),
);

/** Conditions on the state are literals, to match those of the indexes. */
const isReady = sql<boolean>`state = 'ready'`;
const bytesHeld = sql<number>`cast(coalesce(sum(size_bytes), 0) as bigint)`;

export const sumVariants = statement((q, _: object) =>
  q.selectFrom("variant").select(bytesHeld.as("bytes")).where(isReady),
);

/** The accounts whose variants take the most room. */
export const listLargestShares = statement((q, p: { take: number }) =>
  q
    .selectFrom("variant")
    .select(["account_id", bytesHeld.as("bytes")])
    .where(isReady)
    .groupBy("account_id")
    .orderBy(sql`bytes`, "desc")
    .limit(p.take),
);

export const listLeastUsedOf = statement((q, p: { account: string; take: number }) =>
  q
    .selectFrom("variant")
    .selectAll()
    .where(isReady)
    .where("account_id", "=", p.account)
    .orderBy("used_at")
    .limit(p.take),
);

/** A failure that has run its time only takes room: the next reader has it tried again either way. */
export const forgetFailed = statement((q, p: { take: number }, dialect) =>
  q
    .deleteFrom("variant")
    .where(
      "id",
      "in",
      q
        .selectFrom("variant")
        .select("id")
        .where(sql<boolean>`state = 'failed'`)
        .where("lease_until", "<", databaseNow(dialect))
        .orderBy("lease_until")
        .limit(p.take),
    )
    .where(sql<boolean>`state = 'failed'`),
);

// bounded: one row per secret the installation has had
export const listPublicKeys = statement((q, _: object) => q.selectFrom("public_variant_key").selectAll());

export const savePublicKey = statement((q, p: { id: string; sealed: string }) =>
  q
    .insertInto("public_variant_key")
    .values({ id: p.id, sealed: p.sealed })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ sealed: p.sealed })),
);
