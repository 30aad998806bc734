import type { Deps } from "../../deps.ts";
import type { CheckFilesDeps } from "./check-files.ts";
import { continueWalk, findWalk, startWalk } from "./walk.ts";

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
