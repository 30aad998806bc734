import type { MoveStorageReport } from "@upstow/server/ops/relocation/storage/move-storage";
import type { Command, Result } from "../command.ts";
import { formatBytes } from "../format.ts";
import { bucketSettings, describeRestart, type Settings } from "../migrate/settings.ts";

export const migrateStorage: Command = {
  name: "migrate storage",
  summary: "Move the files of a running installation from its disk to a bucket",
  options: {
    finish: { description: "also copy the remaining files, with the service read-only from then on" },
    "skip-damaged": { description: "leave out files that are damaged on the disk" },
    abort: { description: "cancel the move; the service accepts changes again" },
  },
  notes: `Set the UPSTOW_S3_ variables for this command, but not yet for the service. Run it
without options first, as often as you like, while the service is in use. Every file is checked against its SHA-256
on the disk and read back from the bucket. If interrupted, run it again to continue where it stopped.
Also exits with code 1 if files are damaged on the disk.`,
  async run(call) {
    const { runAbandonStorage, runMoveStorage } = await import("../migrate/move-storage.ts");
    if (call.options.has("abort")) {
      await runAbandonStorage(call);
      return {
        json: { state: "abandoned" },
        text: "The move is cancelled: files stay on the disk, and the service accepts changes again. Copied objects are left in the bucket.",
      };
    }
    return present(await runMoveStorage(call), bucketSettings(call.env), call.options.has("skip-damaged"));
  },
};

const mostShown = 20;

function present(report: MoveStorageReport, settings: Settings, mayBeDamaged: boolean): Result {
  const isDone = report.state === "copied";
  const lines = [
    `${report.total.objects} files (${formatBytes(report.total.bytes)}) are in ${report.target}, ${report.copied.objects} of them copied in this run. Each was read back and verified.`,
    ...(report.removed > 0
      ? [`${report.removed} were deleted since they were copied, and also removed there.`]
      : []),
    ...(report.openMultipart > 0
      ? [
          `${report.openMultipart} multipart uploads are in progress; those not completed before the switch must be started again.`,
        ]
      : []),
    ...describeDamage(report, mayBeDamaged),
  ];
  if (!isDone && report.isReadOnly) {
    lines.push("The service is read-only until --finish succeeds or --abort cancels the move.");
  }
  if (isDone) {
    lines.push("", "The service is read-only until it is restarted on the bucket.");
    lines.push(describeRestart(settings));
    lines.push(
      "To move the database in the same maintenance window, run `upstow migrate database` before that.",
    );
  } else if (report.damaged.length === 0) {
    lines.push(
      "When you are ready, `upstow migrate storage --finish` copies what has changed since then and completes the move.",
    );
  }
  return {
    json: { ...report, ...(isDone ? { set: settings } : {}) },
    text: lines.join("\n"),
    ok: report.damaged.length === 0 || (mayBeDamaged && isDone),
  };
}

function describeDamage({ damaged, state }: MoveStorageReport, mayBeDamaged: boolean): string[] {
  if (damaged.length === 0) return [];
  const shown = damaged.slice(0, mostShown).map(({ key, reason }) => `  ${key}: ${reason}`);
  const more =
    damaged.length > mostShown ? [`  and ${damaged.length - mostShown} more; --json lists all`] : [];
  const advice =
    mayBeDamaged && state === "copied"
      ? "  They were left behind, and return 500 FILE_DAMAGED as before."
      : "  → Restore them from a backup or delete them; --finish --skip-damaged continues without them.";
  return [
    `✖ ${damaged.length} files are damaged on the disk and were not copied:`,
    ...shown,
    ...more,
    advice,
  ];
}
