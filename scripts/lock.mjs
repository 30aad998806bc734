import { mkdirSync, readFileSync, rmdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SetUpError } from "./run-captured.mjs";

const HEARTBEAT_MS = 2_000;
// Judges an owner whose process id means nothing here: another container on the same checkout.
const SILENT_OWNER_MS = 60_000;
const GIVE_UP_MS = 15 * 60_000;
const me = `${hostname()} ${process.pid}`;

function tryMakeDirectory(path) {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw new SetUpError(`Cannot write to ${path}: ${error.message}`);
  }
}

function findOwner(directory) {
  try {
    return readFileSync(join(directory, "owner"), "utf8");
  } catch {
    return null;
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function isAbandoned(directory) {
  const stat = statSync(directory, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  const [host, pid] = findOwner(directory)?.split(" ") ?? [];
  if (host === hostname() && !isRunning(Number(pid))) return true;
  return Date.now() - stat.mtimeMs > SILENT_OWNER_MS;
}

// Two waiters may judge the same lock abandoned. Only the one that holds the second directory removes it, after
// looking again; otherwise the slower one would remove the lock that the faster one has just taken.
function removeAbandoned(directory) {
  const guard = `${directory}.removal`;
  if (!isAbandoned(directory) || !tryMakeDirectory(guard)) return;
  try {
    if (isAbandoned(directory)) rmSync(directory, { recursive: true, force: true });
  } finally {
    rmdirSync(guard);
  }
}

async function acquire(directory, say) {
  const startedMs = Date.now();
  for (let turn = 0; !tryMakeDirectory(directory); turn++) {
    removeAbandoned(directory);
    if (turn === 2) say("another set-up of this checkout is running, waiting for it");
    if (Date.now() - startedMs > GIVE_UP_MS) {
      throw new SetUpError(
        `Another set-up still holds ${directory}. If none is running, remove ${directory}*`,
      );
    }
    await sleep(turn < 2 ? 50 : 300);
  }
  writeFileSync(join(directory, "owner"), me);
}

/**
 * Runs `work` while no other process does so under the same lock directory.
 * @param {string} directory
 * @param {(message: string) => void} say
 * @param {() => Promise<void>} work
 */
export async function withLock(directory, say, work) {
  await acquire(directory, say);
  const heartbeat = setInterval(() => utimesSync(directory, new Date(), new Date()), HEARTBEAT_MS);
  try {
    await work();
  } finally {
    clearInterval(heartbeat);
    if (findOwner(directory) === me) rmSync(directory, { recursive: true, force: true });
  }
}
