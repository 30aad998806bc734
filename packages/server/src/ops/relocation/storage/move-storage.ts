import type { Database } from "../../../db/database.ts";
import type { RelocationRow, RelocationState } from "../../../db/schema.ts";
import { enterReadOnly, findRelocation, leaveReadOnly, listReasons } from "../../../http/read-only.ts";
import type { Author } from "../../../kernel/actor.ts";
import { AppError } from "../../../kernel/errors.ts";
import { getInstallationId, recordMove, setState, startMove, storeNames } from "../queries.ts";
import { type Amount, copyMissing, copyStaged, type DamagedObject, type PassDeps } from "./copy-pass.ts";
import { countOpenMultipart, forgetAll, measureMoved } from "./queries.ts";
import { checkOwn, takeCensus } from "./take-census.ts";

export interface MoveStorageDeps extends PassDeps {
  now: () => number;
  author: Author;
  onReadOnly: () => void;
}

export interface MoveStorageOptions {
  /** Include the last part, during which the service is read-only. */
  finish: boolean;
  /** Leave damaged files behind. */
  skipDamaged: boolean;
}

export interface MoveStorageReport {
  target: string;
  /** `copied`: the service may be started on the bucket. */
  state: "copying" | "copied";
  isReadOnly: boolean;
  /** In the bucket and verified. */
  total: Amount;
  /** By this run. */
  copied: Amount;
  /** Deleted since they were copied, and therefore removed from the bucket. */
  removed: number;
  /** Copied bodies of uploads that are not completed. */
  staged: number;
  /** Multipart uploads that have to be restarted after the switch. */
  openMultipart: number;
  damaged: DamagedObject[];
}

const mostRounds = 5;

/**
 * Copies every object to the bucket: most of them while the service is in use, the rest while it is read-only. It can
 * be killed at any time and run again.
 */
export async function moveStorage(
  deps: MoveStorageDeps,
  { finish, skipDamaged }: MoveStorageOptions,
): Promise<MoveStorageReport> {
  const { db, target, now } = deps;
  const wasCopied = (await begin(deps)) === "copied";
  await target.clearLeftovers();
  const first = await copyMissing(deps);
  const openMultipart = (await db.get(countOpenMultipart, { store: storeNames.from }))?.count ?? 0;
  const report: MoveStorageReport = {
    target: target.description,
    state: "copying",
    isReadOnly: false,
    total: { objects: 0, bytes: 0 },
    copied: first.copied,
    removed: 0,
    staged: 0,
    openMultipart,
    damaged: first.damaged,
  };
  if ((finish || wasCopied) && (skipDamaged || report.damaged.length === 0)) {
    await enterReadOnly(db, "storage", now());
    deps.onReadOnly();
    await copyRest(deps, report);
    if (skipDamaged || report.damaged.length === 0) {
      await db.run(setState, { name: "storage", state: "copied", now: now() });
      report.state = "copied";
    }
  }
  report.isReadOnly = (await db.all(listReasons, {})).length > 0;
  report.total = (await db.get(measureMoved, {})) ?? report.total;
  return report;
}

/** Nothing changes from here on, so the bucket ends up identical to the disk. */
async function copyRest(deps: MoveStorageDeps, report: MoveStorageReport): Promise<void> {
  for (let round = 1; ; round++) {
    const { copied, damaged } = await copyMissing(deps);
    report.copied.objects += copied.objects;
    report.copied.bytes += copied.bytes;
    report.damaged = damaged;
    const { removed, hasLosses } = await takeCensus(deps.db, deps.target);
    report.removed += removed;
    if (!hasLosses) break;
    if (round >= mostRounds) throw unsteady(deps.target.description);
  }
  const staged = await copyStaged(deps);
  report.staged = staged.copied.objects;
}

/** Returns an earlier run's state; null for the first run. */
async function begin({ db, target, now, author }: MoveStorageDeps): Promise<RelocationState | null> {
  const { description } = target;
  const installation = await getInstallationId(db);
  const database = await db.get(findRelocation, { name: "database" });
  if (db.dialect === "sqlite" && database?.state === "copying") throw databaseFirst();
  const begun = await db.get(findRelocation, { name: "storage" });
  if (begun?.state === "switching" || begun?.state === "done") throw alreadyThere(begun);
  if (begun?.target === description) {
    for await (const object of target.list()) {
      await checkOwn(db, target, [object]);
      break;
    }
    // Also reset from "copied", so that no start can switch before this run ends.
    await db.run(setState, { name: "storage", state: "copying", now: now() });
    return begun.state;
  }
  if (begun !== null && begun.state !== "abandoned") throw otherTarget(begun);
  if (!(await target.isEmpty())) throw notEmpty(description);
  await db.run(forgetAll, {});
  await startMove(db, author, {
    name: "storage",
    installation,
    target: description,
    state: "copying",
    started_at: now(),
    changed_at: now(),
  });
  return null;
}

/** Cancels the move: the service accepts changes again. Copied files stay in the bucket for another attempt. */
export async function abandonStorage(db: Database, now: number, author: Author): Promise<void> {
  const begun = await db.get(findRelocation, { name: "storage" });
  // An interrupted run has left the mode on.
  const isReadOnly = (await db.all(listReasons, {})).some(({ reason }) => reason === "storage");
  if (begun === null || (begun.state === "abandoned" && !isReadOnly))
    throw new AppError("NOT_FOUND", "The files are not being moved.");
  if (begun.state === "switching" || begun.state === "done") throw alreadyThere(begun);
  const database = await db.get(findRelocation, { name: "database" });
  if (db.dialect === "sqlite" && (database?.state === "copying" || database?.state === "copied"))
    throw databaseFirst();
  await db.run(setState, { name: "storage", state: "abandoned", now });
  const abandoned = { ...begun, state: "abandoned", changed_at: now } as const;
  await leaveReadOnly(db, "storage", (tx) => recordMove(tx, author, abandoned));
}

function alreadyThere({ target }: RelocationRow): AppError {
  return new AppError("VALIDATION_ERROR", `The files are already in ${target}; the service has switched.`, {
    suggestion: "There is nothing left to move.",
  });
}

function otherTarget({ target }: RelocationRow): AppError {
  return new AppError("VALIDATION_ERROR", `The files are already being moved to ${target}.`, {
    suggestion:
      "Set UPSTOW_S3_BUCKET to that bucket, or cancel the move first with `upstow migrate storage --abort`.",
  });
}

function notEmpty(description: string): AppError {
  return new AppError("VALIDATION_ERROR", `${description} already contains objects.`, {
    suggestion: "Use an empty bucket, or set UPSTOW_S3_PREFIX to an empty folder.",
  });
}

function databaseFirst(): AppError {
  return new AppError("VALIDATION_ERROR", "The database is being moved to PostgreSQL.", {
    suggestion:
      "Finish that first with `upstow migrate database`, or cancel it with `upstow migrate database --abort`.",
  });
}

function unsteady(description: string): AppError {
  return new AppError(
    "SERVICE_UNAVAILABLE",
    `Objects disappear from ${description} while it is being filled.`,
    {
      suggestion:
        "Look for a lifecycle rule or a program that deletes objects there, then run the command again.",
    },
  );
}
