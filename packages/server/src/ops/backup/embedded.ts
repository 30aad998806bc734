import { readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { sql } from "#kysely";
import type { Database, Queryable } from "../../db/database.ts";
import { statement } from "../../db/statement.ts";
import { type layoutOf, syncDirectory, syncFile } from "./backup-directory.ts";
import { type BlobCatalog, type BlobCopyOutcome, type CopyCount, eachPage, isNamed } from "./copy-blobs.ts";

export type OpenSnapshot = (path: string) => Database;

interface EmbeddedBackup {
  /** The running installation. */
  db: Database;
  source: string;
  layout: ReturnType<typeof layoutOf>;
  catalog: BlobCatalog;
  openSnapshot: OpenSnapshot;
  copy: (db: Queryable) => Promise<BlobCopyOutcome>;
}

export type BackupResult = BlobCopyOutcome & { removed: number; deletedMeanwhile: number };

const mostRounds = 5;

/**
 * Copies the database first, then its blobs. If a blob is deleted in between, a second snapshot without it is taken,
 * and only newer blobs have to be copied. The previous backup stays intact until everything in the new one is there.
 */
export async function backUpEmbedded(backup: EmbeddedBackup): Promise<BackupResult> {
  const { layout, catalog } = backup;
  const path = join(layout.unfinished, "upstow.db");
  const copied: CopyCount = { objects: 0, bytes: 0 };
  for (let round = 1; ; round++) {
    await takeSnapshot(backup.source, path);
    const snapshot = backup.openSnapshot(path);
    let result: BackupResult;
    let obsolete: string[];
    try {
      const damage = await findDamage(snapshot);
      if (damage !== null) throw new Error(`the database is damaged and was not backed up: ${damage}`);
      const outcome = await backup.copy(snapshot);
      copied.objects += outcome.copied.objects;
      copied.bytes += outcome.copied.bytes;
      const { lost, deleted } = await tellApart(backup, outcome.missing);
      if (deleted.length > 0 && round < mostRounds) continue;
      for (const blob of deleted) await catalog.markDamaged(snapshot, blob);
      obsolete = await findObsolete(catalog, snapshot, layout.objects);
      const removed = obsolete.length;
      result = { ...outcome, copied, missing: lost, removed, deletedMeanwhile: deleted.length };
    } finally {
      await snapshot.close();
    }
    await syncFile(path);
    await rename(path, layout.database);
    await syncDirectory(dirname(layout.database));
    for (const file of obsolete) await rm(file, { force: true });
    return result;
  }
}

/** Rows are deleted before their blobs, so a row with a missing blob means data loss. */
export async function tellApart({ catalog, db }: Pick<EmbeddedBackup, "catalog" | "db">, missing: string[]) {
  const lost: string[] = [];
  const deleted: string[] = [];
  for (const blob of missing) ((await isNamed(catalog, db, blob)) ? lost : deleted).push(blob);
  return { lost, deleted };
}

const allPages = 2 ** 31 - 1;

/**
 * Copies a consistent snapshot of an embedded database while it is in use. All pages are copied in one step, in one
 * read transaction: with several steps, every commit in between would restart the copy.
 */
async function takeSnapshot(from: string, to: string): Promise<void> {
  await rm(to, { force: true });
  const source = new DatabaseSync(from, { timeout: 5000 });
  try {
    await backup(source, to, { rate: allPages });
  } finally {
    source.close();
  }
  await syncFile(to);
}

/** Files of an earlier backup that the database no longer references. */
async function findObsolete(catalog: BlobCatalog, db: Queryable, objects: string): Promise<string[]> {
  const root = join(objects, "blobs");
  const obsolete: string[] = [];
  for (const shard of await readdir(root)) {
    const named = new Set<string>();
    for await (const page of eachPage(catalog, db, shard)) for (const row of page) named.add(row.blob);
    for (const blob of await readdir(join(root, shard))) {
      if (!named.has(blob)) obsolete.push(join(root, shard, blob));
    }
  }
  return obsolete;
}

const checkPages = statement((q, _: object) =>
  q.selectNoFrom(sql<string>`(select group_concat(quick_check, '; ') from pragma_quick_check)`.as("result")),
);

/** The problem with an embedded database's file, or null. */
export async function findDamage(db: Queryable): Promise<string | null> {
  const pages = await db.get(checkPages, {});
  return pages?.result === "ok" ? null : (pages?.result ?? "no result").slice(0, 200);
}
