import { setTimeout as sleep } from "node:timers/promises";
import type { Queryable } from "../../db/database.ts";
import type { Deps } from "../../deps.ts";
import { findReport, keepReport, type MaintenanceName } from "../maintenance-reports.ts";
import { checkCounters } from "./check-counters.ts";
import { type CheckFilesDeps, checkFiles, forgetDamageBefore, type OnFinding } from "./check-files.ts";
import { checkObjects } from "./check-objects.ts";

/** A walk over files, objects and counters as it is kept between steps, so that any process can continue it. */
export interface Walk {
  step: "files" | "objects" | "counters" | "ended";
  /** Where the step continues. */
  cursor: string;
  fix: boolean;
  /** How many files are read to the end, from 0 to 1. */
  share: number;
  acceptEtags: boolean;
  acceptedEtags: number;
  checkedFiles: number;
  damagedFiles: number;
  uncheckedFiles: number;
  checkedObjects: number;
  orphans: number;
  foreignObjects: number;
  checkedCounters: number;
  wrongCounters: number;
  hasEnded: boolean;
}

interface WalkOptions {
  /** Under which the walk is kept. */
  name: MaintenanceName;
  mostFilesPerCounter: number;
  onFinding: OnFinding;
  onStep: (walk: Walk) => void;
  signal: AbortSignal;
  /** Stops after this many; a later call continues. */
  mostSteps?: number;
  /** Between steps, to leave room for others. */
  pauseMs?: number;
}

export function startWalk({ fix, share, acceptEtags }: Pick<Walk, "fix" | "share" | "acceptEtags">): Walk {
  return {
    step: "files",
    cursor: "",
    fix,
    share,
    acceptEtags,
    acceptedEtags: 0,
    checkedFiles: 0,
    damagedFiles: 0,
    uncheckedFiles: 0,
    checkedObjects: 0,
    orphans: 0,
    foreignObjects: 0,
    checkedCounters: 0,
    wrongCounters: 0,
    hasEnded: false,
  };
}

export async function findWalk(
  db: Queryable,
  name: MaintenanceName,
): Promise<{ walk: Walk; startedAt: number; endedAt: number } | null> {
  const row = await db.get(findReport, { name });
  return row && { walk: JSON.parse(row.report), startedAt: row.started_at, endedAt: row.ended_at };
}

/** Whether anything was found wrong, or could not be checked. */
export function hasFindings(walk: Walk): boolean {
  const { damagedFiles, uncheckedFiles, orphans, foreignObjects, wrongCounters } = walk;
  return damagedFiles + uncheckedFiles + orphans + foreignObjects + wrongCounters > 0;
}

/**
 * Continues a walk until it has ended or the signal aborts. Each step reads a bounded number of rows or objects in no
 * transaction, and is kept before the next. Some findings of a step that was cut short are found again.
 */
export async function continueWalk(
  deps: CheckFilesDeps,
  { walk: from, startedAt }: { walk: Walk; startedAt: number },
  options: WalkOptions,
): Promise<Walk> {
  const { mostSteps = Number.POSITIVE_INFINITY, pauseMs = 0, signal } = options;
  let walk = from;
  const keep = () => keepReport(deps.db, options.name, { startedAt, endedAt: deps.now() }, walk);
  await keep();
  for (let steps = 0; steps < mostSteps && !walk.hasEnded && !signal.aborted; steps++) {
    if (steps > 0 && pauseMs > 0) await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    walk = await takeStep(deps, walk, options);
    if (walk.hasEnded) await deps.db.run(forgetDamageBefore, { before: startedAt });
    await keep();
    options.onStep(walk);
  }
  return walk;
}

async function takeStep(deps: CheckFilesDeps, walk: Walk, options: WalkOptions): Promise<Walk> {
  const { cursor, fix, share, acceptEtags } = walk;
  const { onFinding, signal, mostFilesPerCounter: mostFiles } = options;
  switch (walk.step) {
    case "files": {
      const page = await checkFiles(deps, cursor, { share, acceptEtags, onFinding, signal });
      return {
        ...walk,
        ...goOn("files", page.next, "objects"),
        checkedFiles: walk.checkedFiles + page.checked,
        damagedFiles: walk.damagedFiles + page.damaged,
        uncheckedFiles: walk.uncheckedFiles + page.unchecked,
        acceptedEtags: walk.acceptedEtags + page.acceptedEtags,
      };
    }
    case "objects": {
      const page = await checkObjects(deps, cursor, { fix, onFinding });
      return {
        ...walk,
        ...goOn("objects", page.next, "counters"),
        checkedObjects: walk.checkedObjects + page.checked,
        orphans: walk.orphans + page.orphaned,
        foreignObjects: walk.foreignObjects + page.foreign,
      };
    }
    case "counters": {
      const page = await checkCounters(deps, cursor, { fix, mostFiles, onFinding, signal });
      return {
        ...walk,
        ...goOn("counters", page.next, "ended"),
        checkedCounters: walk.checkedCounters + page.checked,
        wrongCounters: walk.wrongCounters + page.wrong,
        hasEnded: page.next === null,
      };
    }
    case "ended":
      return walk;
  }
}

function goOn(
  step: Walk["step"],
  next: string | null,
  following: Walk["step"],
): Pick<Walk, "step" | "cursor"> {
  return next === null ? { step: following, cursor: "" } : { step, cursor: next };
}

/** 20,000 files per run, so that ten million take three weeks of hourly runs and a bucket answers six a second. */
const stepsPerRun = 100;
/** Between the starts of two walks. */
const restMs = 24 * 3_600_000;
/** A recount is one statement. On the embedded database it would stall the service, so `upstow verify` counts the rest. */
const mostFilesPerCounter = { sqlite: 20_000, postgres: 500_000 };
const mostLogged = 20;

/** Continues the service's own walk. It reports and repairs nothing; bytes on the disk are read by the scrub. */
export async function checkNextFiles(
  deps: CheckFilesDeps & Pick<Deps, "log">,
  signal: AbortSignal,
): Promise<void> {
  const now = deps.now();
  const last = await findWalk(deps.db, "verify");
  if (last?.walk.hasEnded === true && now - last.startedAt < restMs) return;
  const current =
    last === null || last.walk.hasEnded
      ? { walk: startWalk({ fix: false, share: 0, acceptEtags: false }), startedAt: now }
      : last;
  let found = 0;
  await continueWalk(deps, current, {
    name: "verify",
    mostSteps: stepsPerRun,
    pauseMs: 200,
    mostFilesPerCounter: mostFilesPerCounter[deps.db.dialect],
    onFinding(finding) {
      if (++found <= mostLogged)
        deps.log.error({ finding }, "records and stored files do not match; see `upstow verify`");
    },
    onStep: () => {},
    signal,
  });
}
