import { sql } from "#kysely";
import { type Database, type IndexDefinition, NewerDatabase, type Queryable } from "./database.ts";
import { foundation } from "./migrations/001-foundation.ts";
import { files } from "./migrations/002-files.ts";
import { diskStore } from "./migrations/003-disk-store.ts";
import { webhooks } from "./migrations/004-webhooks.ts";
import { variants } from "./migrations/005-variants.ts";
import { consoleTables } from "./migrations/006-console.ts";
import { people } from "./migrations/007-people.ts";
import { reports } from "./migrations/008-reports.ts";
import { variantRecipe } from "./migrations/009-variant-recipe.ts";
import { customerStorage } from "./migrations/010-customer-storage.ts";
import { cdnDomain } from "./migrations/011-cdn-domain.ts";
import { relocation } from "./migrations/012-relocation.ts";
import { smallBlobs } from "./migrations/013-small-blobs.ts";
import { usageTotals } from "./migrations/014-usage-totals.ts";
import { jobLeases } from "./migrations/015-job-leases.ts";
import { webhookOrder } from "./migrations/016-webhook-order.ts";
import { keyReach } from "./migrations/017-key-reach.ts";
import { plainChecks } from "./migrations/018-plain-checks.ts";
import { purgeAgain } from "./migrations/019-purge-again.ts";
import { bounds } from "./migrations/020-bounds.ts";
import { accountLimits } from "./migrations/021-account-limits.ts";
import { peopleAndDomains } from "./migrations/022-people-and-domains.ts";
import { failedFiles } from "./migrations/023-failed-files.ts";
import { privateFiles } from "./migrations/024-private-files.ts";
import { additiveMigrations } from "./migrations/025-additive-migrations.ts";
import { integrity } from "./migrations/026-integrity.ts";
import { usageBelowZero, usageShares } from "./migrations/027-usage-shares.ts";
import { audit, namedDeletedFiles } from "./migrations/028-audit.ts";
import { life, lifeIndexes } from "./migrations/029-life.ts";
import { inspection } from "./migrations/030-inspection.ts";
import { factsDue, media } from "./migrations/031-media.ts";
import { resumableUploads } from "./migrations/032-resumable-uploads.ts";
import { formOrigins } from "./migrations/033-form-origins.ts";
import { imports } from "./migrations/034-imports.ts";
import { scansDue, virusScan } from "./migrations/035-virus-scan.ts";
import { stripMetadata } from "./migrations/036-strip-metadata.ts";
import { oldFailures } from "./migrations/037-old-failures.ts";
import { variantIndexes, variantShares } from "./migrations/038-variant-shares.ts";
import { grantOfUpload } from "./migrations/039-grant-of-upload.ts";
import { refusedPlaces } from "./migrations/040-refused-places.ts";
import { type DialectName, statement } from "./statement.ts";

/** From here on the database knows which migrations are additive. */
const marksAdditive = "025-additive-migrations";

/** In order, forward only. Released migrations are never edited: the next change is a new entry. */
const migrations: readonly Migration[] = [
  { id: "001-foundation", sql: foundation },
  { id: "002-files", sql: files },
  { id: "003-disk-store", sql: diskStore },
  { id: "004-webhooks", sql: webhooks },
  { id: "005-variants", sql: variants },
  { id: "006-console", sql: consoleTables },
  { id: "007-people", sql: people },
  { id: "008-reports", sql: reports },
  { id: "009-variant-recipe", sql: variantRecipe },
  { id: "010-customer-storage", sql: customerStorage },
  { id: "011-cdn-domain", sql: cdnDomain },
  { id: "012-relocation", sql: relocation },
  { id: "013-small-blobs", sql: smallBlobs },
  { id: "014-usage-totals", sql: usageTotals },
  { id: "015-job-leases", sql: jobLeases },
  { id: "016-webhook-order", sql: webhookOrder },
  { id: "017-key-reach", sql: keyReach },
  { id: "018-plain-checks", sql: plainChecks, only: "sqlite" },
  { id: "019-purge-again", sql: purgeAgain },
  { id: "020-bounds", sql: bounds },
  { id: "021-account-limits", sql: accountLimits },
  { id: "022-people-and-domains", sql: peopleAndDomains },
  { id: "023-failed-files", sql: "", indexes: [failedFiles] },
  { id: "024-private-files", sql: privateFiles },
  { id: marksAdditive, sql: additiveMigrations },
  { id: "026-integrity", sql: integrity, isAdditive: true },
  // Earlier versions would not see what is counted in shares.
  { id: "027-usage-shares", sql: usageShares, alsoOnPostgres: usageBelowZero, isAdditive: "sqlite" },
  { id: "028-audit", sql: audit, indexes: [namedDeletedFiles], isAdditive: true },
  { id: "029-life", sql: life, indexes: lifeIndexes, isAdditive: true },
  { id: "030-inspection", sql: inspection, isAdditive: true },
  { id: "031-media", sql: media, indexes: [factsDue], isAdditive: true },
  { id: "032-resumable-uploads", sql: resumableUploads, isAdditive: true },
  { id: "033-form-origins", sql: formOrigins, isAdditive: true },
  { id: "034-imports", sql: imports, isAdditive: true },
  // Earlier versions would serve files that are not scanned yet. Those before 029 also serve expired files.
  { id: "035-virus-scan", sql: virusScan, indexes: [scansDue] },
  // Earlier versions would confirm pictures with the metadata that a route takes out.
  { id: "036-strip-metadata", sql: stripMetadata },
  { id: "037-old-failures", sql: "", indexes: [oldFailures], isAdditive: true },
  { id: "038-variant-shares", sql: variantShares, indexes: variantIndexes, isAdditive: true },
  { id: "039-grant-of-upload", sql: grantOfUpload, isAdditive: true },
  { id: "040-refused-places", sql: refusedPlaces, isAdditive: true },
];

interface Migration {
  id: string;
  sql: string;
  alsoOnPostgres?: string;
  /** Of tables that exist and may be large; on PostgreSQL they are built after the migrations, while others write. */
  indexes?: readonly IndexDefinition[];
  /** The engine it applies to, if not both. */
  only?: DialectName;
  /**
   * The version before works on the migrated database: it only gains tables, indexes, or columns with a default. Set it
   * wherever it is true, because it lets an operator go back. An engine's name if it is true on that one only.
   */
  isAdditive?: boolean | DialectName;
}

// bounded: as many as there are migrations
const listApplied = statement((q, _: object) => q.selectFrom("migration").select("id"));
const recordApplied = statement((q, p: { id: string; now: number }) =>
  q.insertInto("migration").values({ id: p.id, applied_at: p.now }),
);
const markAdditive = statement((q, p: { id: string }) =>
  q
    .updateTable("migration")
    .set({ is_additive: sql.lit(1) })
    .where("id", "=", p.id),
);
const findAdditive = statement((q, p: { id: string }) =>
  q.selectFrom("migration").select("id").where("id", "=", p.id).where("is_additive", "=", sql.lit(1)),
);

export async function migrate(database: Database): Promise<void> {
  await database.migrate(async (tx) => {
    await tx.script("CREATE TABLE IF NOT EXISTS migration (id TEXT PRIMARY KEY, applied_at BIGINT NOT NULL)");
    const applied = new Set((await tx.all(listApplied, {})).map((row) => row.id));
    await refuseUnknown(tx, applied);
    for (const migration of migrations) {
      const { id, indexes = [], only = database.dialect, isAdditive = false } = migration;
      if (applied.has(id)) continue;
      if (only === database.dialect) await tx.script(scriptFor(migration, database.dialect));
      if (database.buildIndexes === undefined) for (const index of indexes) await tx.script(index.sql);
      await tx.run(recordApplied, { id, now: Date.now() });
      if (isAdditive === true || isAdditive === database.dialect) await tx.run(markAdditive, { id });
    }
  });
  await database.buildIndexes?.(migrations.flatMap(({ indexes = [] }) => indexes));
}

function scriptFor({ sql, alsoOnPostgres = "" }: Migration, dialect: DialectName): string {
  return inDialect(dialect === "postgres" ? sql + alsoOnPostgres : sql, dialect);
}

/** An operator may go back to this version if everything that came after it is additive. */
async function refuseUnknown(tx: Queryable, applied: ReadonlySet<string>): Promise<void> {
  const unknown = [...applied].filter((id) => !migrations.some((migration) => migration.id === id));
  for (const id of unknown) {
    const isAdditive = applied.has(marksAdditive) && (await tx.get(findAdditive, { id })) !== null;
    if (isAdditive) continue;
    throw new NewerDatabase(
      `the database was used by a newer version of Upstow (it has migration ${id}, which this one cannot work with); run that version`,
    );
  }
}

/**
 * Migrations are written in the SQL that both engines share. SQLite then gets STRICT tables, and PostgreSQL compares
 * text by bytes like SQLite, so that both list in the same order.
 */
export function inDialect(sql: string, dialect: DialectName): string {
  if (dialect === "sqlite") return sql.replaceAll("BIGINT", "INTEGER").replaceAll(/^\);$/gm, ") STRICT;");
  return sql
    .replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"')
    .replaceAll(/\bBLOB\b/g, "BYTEA")
    .replace("CREATE TABLE rate_window", "CREATE UNLOGGED TABLE rate_window");
}
