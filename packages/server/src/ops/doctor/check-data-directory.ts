import { constants } from "node:fs";
import { access, readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import type { Database } from "../../db/database.ts";
import { statement } from "../../db/statement.ts";
import { type Check, createChecks } from "./check.ts";

const directory = createChecks("data directory");

const GB = 1024 ** 3;
const scarceBytes = 2 * GB;
const tooFewBytes = GB / 4;
const othersMayEnter = 0o077;

export async function checkDataDirectory(config: Config): Promise<Check[]> {
  const path = config.dataDir;
  const found = await stat(path).catch(() => null);
  if (found === null) {
    const isUsed = config.databaseUrl === null || config.s3 === null || config.secrets === null;
    return isUsed
      ? [directory.warning(`${path} does not exist yet.`, "Start the service once with npm start.")]
      : [];
  }
  if (!found.isDirectory())
    return [directory.failed(`${path} is not a directory.`, "Set UPSTOW_DATA_DIR to one.")];
  const checks = [await checkAccess(path, found.uid, found.mode), await checkSpace(path)];
  return checks;
}

async function checkAccess(path: string, owner: number, mode: number): Promise<Check> {
  const isWritable = await access(path, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable) {
    return directory.failed(
      `${path} is not writable.`,
      "Run as the user that runs the service, or mount it writable.",
    );
  }
  if ((mode & othersMayEnter) !== 0) {
    return directory.warning(`Other users of this machine can enter ${path}.`, `chmod 700 ${path}`);
  }
  const self = process.getuid?.() ?? owner;
  if (self !== owner && self !== 0) {
    return directory.warning(
      `${path} belongs to another user (${owner}).`,
      "Run as the user that runs the service.",
    );
  }
  return directory.ok(`${path} is writable and private`);
}

async function checkSpace(path: string): Promise<Check> {
  const disk = await statfs(path);
  const freeBytes = disk.bavail * disk.bsize;
  const share = disk.blocks === 0 ? 0 : Math.round((100 * disk.bavail) / disk.blocks);
  const message = `${(freeBytes / GB).toFixed(1)} GB free (${share}%)`;
  const fix = "Free up disk space, or move the data directory to a larger disk.";
  if (freeBytes < tooFewBytes)
    return directory.failed(`Only ${message}; uploads will soon be rejected.`, fix);
  return freeBytes < scarceBytes ? directory.warning(`Only ${message}.`, fix) : directory.ok(message);
}

const leftovers = createChecks("leftovers");

const hourMs = 3_600_000;
const largeLogBytes = 512 * 1024 * 1024;

// bounded: once per operator command
const countOverdue = statement((q, p: { before: number }) =>
  q
    .selectFrom("storage_deletion")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("run_at", "<", p.before),
);

/** Leftovers that a healthy service cleans up by itself, so they indicate a problem if they stay. */
export async function checkLeftovers(db: Database, dataDir: string, now: number): Promise<Check[]> {
  const checks: Check[] = [];
  const overdue = (await db.get(countOverdue, { before: now - hourMs }))?.count ?? 0;
  if (overdue > 0) {
    checks.push(
      leftovers.warning(
        `${overdue} deleted objects are still waiting to be removed from storage.`,
        "Start the service and check its log.",
      ),
    );
  }
  const abandoned = await countOldFiles(join(dataDir, "objects", "tmp"), now - 48 * hourMs);
  if (abandoned > 0) {
    checks.push(
      leftovers.warning(
        `${abandoned} unfinished uploads were never swept.`,
        "Start the service; it sweeps every hour.",
      ),
    );
  }
  const log = await stat(join(dataDir, "upstow.db-wal")).catch(() => null);
  if (log !== null && log.size > largeLogBytes) {
    checks.push(
      leftovers.warning(
        "The database's log has grown large.",
        "Find the program that keeps the database open and stop it.",
      ),
    );
  }
  return checks.length > 0 ? checks : [leftovers.ok("no leftovers")];
}

async function countOldFiles(directory: string, before: number): Promise<number> {
  const names = await readdir(directory).catch(() => []);
  const files = await Promise.all(names.map((name) => stat(join(directory, name)).catch(() => null)));
  return files.filter((file) => file !== null && file.mtimeMs < before).length;
}
