import type { Finding } from "@upstow/server/ops/verify/check-files";
import type { Walk } from "@upstow/server/ops/verify/walk";
import { type Call, type Command, OperatorError, type Options, UsageError } from "../command.ts";
import { hasDatabase } from "../with-database.ts";

export const verify: Command = {
  name: "verify",
  summary: "Compare the records of files with what is stored, and usage counters with a recount",
  options: {
    fix: { description: "delete objects that belong to no file, and correct counters" },
    sample: { value: "PERCENT", description: "also read this share of the files and compare checksums" },
    all: { description: "also read all files and compare checksums" },
    "accept-etags": {
      description: "record the ETags that the bucket has now, after its objects were copied from another one",
    },
    resume: { description: "continue an interrupted check, with the options it was started with" },
  },
  notes: `The service may keep running. Prints each finding as it is found; with --json, one object per line and a summary at
the end. A file whose bytes are missing or changed is never deleted: restore its bytes or upload it again.
After restoring an older database, objects stored since then look like orphans, so read the list before you use --fix.
Exits with code 1 if anything was found, fixed or not, and with 130 if interrupted.`,
  async run(call) {
    const share = readShare(call.options);
    const resume = call.options.has("resume");
    const fix = call.options.has("fix");
    const acceptEtags = call.options.has("accept-etags");
    if (resume && (share > 0 || fix || acceptEtags))
      throw new UsageError(
        "--resume continues with the options of the interrupted check; leave out the others.",
      );
    const config = call.config();
    if (!hasDatabase(config))
      throw new OperatorError("NOT_FOUND", `There is no installation in ${config.dataDir}.`);
    const { verifyInstallation } = await import("../verify-installation.ts");
    const { hasFindings } = await import("@upstow/server/ops/verify/walk");
    const walk = await stoppable(call, (signal) =>
      verifyInstallation(call, {
        fix,
        share,
        acceptEtags,
        resume,
        onFinding: (finding) => call.print({ json: finding, text: describeFinding(finding) }),
        onStep: createSteps(call),
        signal,
      }),
    );
    const isClean = !hasFindings(walk);
    return { json: { ok: isClean, ...toJson(walk) }, text: conclude(walk, isClean), ok: isClean };
  },
};

function readShare(options: Options): number {
  const sample = options.find("sample");
  if (options.has("all")) {
    if (sample !== undefined) throw new UsageError("Use --all or --sample, not both.");
    return 1;
  }
  if (sample === undefined) return 0;
  const percent = Number(sample);
  if (!/^\d+(\.\d+)?$/.test(sample) || percent <= 0 || percent > 100)
    throw new UsageError(`--sample must be a percentage above 0 and up to 100, not "${sample}".`);
  return percent / 100;
}

const exitCodeOfInterrupt = 130;

/** On Ctrl-C, ends after the files being read. A second Ctrl-C ends immediately. */
async function stoppable(call: Call, work: (signal: AbortSignal) => Promise<Walk>): Promise<Walk> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  call.signals.once("SIGINT", stop);
  try {
    const walk = await work(stopping.signal);
    if (walk.hasEnded) return walk;
  } finally {
    call.signals.off("SIGINT", stop);
  }
  call.note("Stopped. Run `upstow verify --resume` to continue.");
  process.exit(exitCodeOfInterrupt);
}

const lineEveryMs = 10_000;

/** Replaced in place on a terminal; otherwise a line now and then. */
function createSteps(call: Call): (walk: Walk) => void {
  let shownMs = Date.now();
  return (walk) => {
    const text = `Checked ${count(walk.checkedFiles, "file")}, ${count(walk.checkedObjects, "object")}, ${count(walk.checkedCounters, "counter")}`;
    if (call.showsProgress) return call.progress(text);
    if (Date.now() - shownMs < lineEveryMs) return;
    shownMs = Date.now();
    call.note(text);
  };
}

const count = (amount: number, noun: string) =>
  `${amount.toLocaleString("en")} ${noun}${amount === 1 ? "" : "s"}`;

function describeFinding(finding: Finding): string {
  switch (finding.kind) {
    case "damaged-file":
      return `✖ damaged file     ${finding.key}: ${finding.reason}`;
    case "unchecked-file":
      return `! unchecked file   ${finding.key}: ${finding.reason}`;
    case "orphaned-object":
      return `! orphaned object  ${finding.key}`;
    case "foreign-object":
      return `! foreign object   ${finding.key}`;
    case "wrong-counter":
      return `! wrong counter    project ${finding.projectId} (${finding.environment}): ${describeDrift(finding)}`;
  }
}

function describeDrift(drift: Extract<Finding, { kind: "wrong-counter" }>): string {
  const off = (amount: number, noun: string) =>
    amount === 0 ? [] : [`${noun} ${amount > 0 ? "+" : ""}${amount}`];
  return [
    ...off(drift.storedBytes, "stored bytes"),
    ...off(drift.reservedBytes, "reserved bytes"),
    ...drift.reservedUploads.flatMap(({ period, count: uploads }) =>
      off(uploads, `reserved uploads of ${period}`),
    ),
  ].join(", ");
}

function toJson(walk: Walk): object {
  const { step: _step, cursor: _cursor, hasEnded: _hasEnded, acceptEtags: _accepts, share, ...counts } = walk;
  return { ...counts, sampledPercent: share * 100 };
}

function conclude(walk: Walk, isClean: boolean): string {
  const checked = `Checked ${count(walk.checkedFiles, "file")}, ${count(walk.checkedObjects, "object")} and ${count(walk.checkedCounters, "counter")}.`;
  const accepted = walk.acceptedEtags > 0 ? ` Recorded ${count(walk.acceptedEtags, "new ETag")}.` : "";
  if (isClean) return `${checked}${accepted} No problems found.`;
  const { fix, damagedFiles, uncheckedFiles, orphans, foreignObjects, wrongCounters } = walk;
  const lines = [checked + accepted];
  if (damagedFiles > 0)
    lines.push(
      `✖ ${count(damagedFiles, "damaged file")}, which return 500 FILE_DAMAGED.`,
      "  → Restore their bytes from a backup or an older version of the object, or upload them again and delete them.",
    );
  if (uncheckedFiles > 0)
    lines.push(
      `! ${count(uncheckedFiles, "file")} could not be checked because their bucket did not respond.`,
    );
  if (orphans > 0)
    lines.push(
      fix
        ? `! ${count(orphans, "orphaned object")}: the running service deletes them within two minutes.`
        : `! ${count(orphans, "orphaned object")}. --fix deletes them.`,
    );
  if (foreignObjects > 0)
    lines.push(
      `! ${count(foreignObjects, "object")} of projects that this database does not have. Check that no other installation uses the same prefix; they are never deleted.`,
    );
  if (wrongCounters > 0)
    lines.push(
      `! ${count(wrongCounters, "wrong counter")}. ${fix ? "They were corrected." : "--fix corrects them."}`,
    );
  return lines.join("\n");
}
