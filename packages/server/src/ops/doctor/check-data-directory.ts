import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import type { Config } from "../../config.ts";
import { type Check, createChecks } from "./check.ts";

const { ok, warning, failed } = createChecks("data directory");

const GB = 1024 ** 3;
const scarceBytes = 2 * GB;
const tooFewBytes = GB / 4;
const othersMayEnter = 0o077;

export async function checkDataDirectory(config: Config): Promise<Check[]> {
  const path = config.dataDir;
  const found = await stat(path).catch(() => null);
  if (found === null) {
    const isUsed = config.databaseUrl === null || config.s3 === null || config.secrets === null;
    return isUsed ? [warning(`${path} does not exist yet.`, "Start the service once with npm start.")] : [];
  }
  if (!found.isDirectory()) return [failed(`${path} is not a directory.`, "Set UPSTOW_DATA_DIR to one.")];
  const checks = [await checkAccess(path, found.uid, found.mode), await checkSpace(path)];
  return checks;
}

async function checkAccess(path: string, owner: number, mode: number): Promise<Check> {
  const isWritable = await access(path, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable) {
    return failed(
      `${path} cannot be written.`,
      "Run as the user that runs the service, or mount it writable.",
    );
  }
  if ((mode & othersMayEnter) !== 0) {
    return warning(`${path} can be entered by other users of this machine.`, `chmod 700 ${path}`);
  }
  const self = process.getuid?.() ?? owner;
  if (self !== owner && self !== 0) {
    return warning(`${path} belongs to another user (${owner}).`, "Run as the user that runs the service.");
  }
  return ok(`${path} is writable and private`);
}

async function checkSpace(path: string): Promise<Check> {
  const disk = await statfs(path);
  const freeBytes = disk.bavail * disk.bsize;
  const share = disk.blocks === 0 ? 0 : Math.round((100 * disk.bavail) / disk.blocks);
  const message = `${(freeBytes / GB).toFixed(1)} GB free (${share} %)`;
  const fix = "Make room on the disk, or move the data directory to a larger one.";
  if (freeBytes < tooFewBytes) return failed(`Only ${message}; uploads are refused soon.`, fix);
  return freeBytes < scarceBytes ? warning(`Only ${message}.`, fix) : ok(message);
}
