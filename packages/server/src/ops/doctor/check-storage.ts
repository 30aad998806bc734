import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import type { Database } from "../../db/database.ts";
import { statement } from "../../db/statement.ts";
import { countDamagedFiles } from "../verify/check-files.ts";
import { type Check, createChecks } from "./check.ts";

/** A blob's path relative to the object directory; null for a small one, which is in the database. */
export type BlobPath = (blob: string) => string | null;

const { ok, warning, failed } = createChecks("storage");

const findIdentity = statement((q, _: object) => q.selectFrom("disk_store").select("identity"));
const listNewestBlobs = statement((q, _: object) =>
  q
    .selectFrom("disk_object")
    .select(["blob", "size_bytes"])
    .where("blob", "is not", null)
    .where("damaged", "=", 0)
    .orderBy("blob", "desc")
    .limit(100),
);
// bounded: an index of damaged objects alone
const countDamaged = statement((q, _: object) =>
  q
    .selectFrom("disk_object")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("damaged", "=", 1),
);

export async function checkStorage(db: Database, config: Config, blobPath: BlobPath): Promise<Check[]> {
  return [...(await checkDirectory(db, config, blobPath)), ...(await checkDamage(db))];
}

async function checkDamage(db: Database): Promise<Check[]> {
  const damaged = (await db.get(countDamagedFiles, {}))?.count ?? 0;
  if (damaged === 0) return [];
  return [
    warning(
      `${damaged} files were found damaged by the last check of stored files.`,
      "`upstow verify` lists them; docs/verify.md says how to mend them.",
    ),
  ];
}

async function checkDirectory(db: Database, config: Config, blobPath: BlobPath): Promise<Check[]> {
  const identity = (await db.get(findIdentity, {}))?.identity ?? null;
  if (identity === null) return [];
  const root = join(config.dataDir, "objects");
  const onDisk = await readFile(join(root, "identity"), "utf8").catch(() => null);
  if (onDisk !== identity) {
    return [
      failed(
        onDisk === null ? `${root} is missing or empty.` : `${root} belongs to another database.`,
        "Mount the disk that holds the objects, or restore database and objects together from one backup.",
      ),
    ];
  }
  // A restored directory has none until the next start.
  const hasTemporary = (await stat(join(root, "tmp")).catch(() => null)) !== null;
  const isWritable = await access(hasTemporary ? join(root, "tmp") : root, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable) return [failed(`${root} cannot be written.`, "Run as the user that runs the service.")];
  return checkBlobs(db, root, blobPath);
}

async function checkBlobs(db: Database, root: string, blobPath: BlobPath): Promise<Check[]> {
  const newest = await db.all(listNewestBlobs, {});
  const isThere = await Promise.all(
    newest.map(async ({ blob, size_bytes: sizeBytes }) => {
      const path = blobPath(blob ?? "");
      if (path === null) return true;
      const found = await stat(join(root, path)).catch(() => null);
      return found?.size === sizeBytes;
    }),
  );
  const lost = isThere.filter((there) => !there).length;
  const checks: Check[] = [];
  if (lost > 0) {
    checks.push(
      failed(
        `${lost} of the newest ${newest.length} objects have lost their bytes.`,
        "Restore the last backup.",
      ),
    );
  }
  const damaged = (await db.get(countDamaged, {}))?.count ?? 0;
  if (damaged > 0) {
    checks.push(
      warning(
        `${damaged} objects are damaged and not served.`,
        "Check the disk; upload them again or restore a backup.",
      ),
    );
  }
  return checks.length > 0 ? checks : [ok(`${root} belongs to this database and is writable`)];
}
