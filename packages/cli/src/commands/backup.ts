import type { BackupReport } from "@upstow/server/ops/backup/run-backup";
import type { Command } from "../command.ts";
import { givenPath } from "../given-path.ts";
import { withDatabase } from "../with-database.ts";

export const backup: Command = {
  name: "backup",
  summary: "Copy a running installation (database, secret and files) to a directory",
  positionals: [{ name: "dir", description: "an empty directory, or one with an earlier backup to update" }],
  options: {
    "hard-links": { description: "hard-link the files to the originals if both are on the same disk" },
  },
  notes: `The service may keep running. To restore, stop it, copy the directory's contents to an empty data directory and
start it. With PostgreSQL, back up the database with pg_dump first.`,
  async run(call) {
    const directory = givenPath(call, call.positionals[0] ?? "");
    const hardLinks = call.options.has("hard-links");
    const { backUpInstallation } = await import("../back-up-installation.ts");
    const report = await withDatabase(call, (deps) =>
      backUpInstallation(deps, directory, { hardLinks, onProgress: call.progress }),
    );
    const bucket = call.config().s3?.bucket ?? null;
    return { json: toJson(report), text: describe(report, bucket), ok: isWhole(report) };
  },
};

function isWhole(report: BackupReport): boolean {
  return report.missing.length === 0 && report.damaged.length === 0;
}

function toJson(report: BackupReport): object {
  return {
    directory: report.directory,
    database: report.database,
    secret: report.hasSecret,
    objects: report.total.objects,
    bytes: report.total.bytes,
    copied: report.copied.objects,
    copiedBytes: report.copied.bytes,
    removed: report.removed,
    deletedMeanwhile: report.deletedMeanwhile,
    missing: report.missing,
    damaged: report.damaged,
  };
}

function describe(report: BackupReport, bucket: string | null): string {
  const { total, copied } = report;
  const lines = [
    `Backed up to ${report.directory}: ${total.objects} files (${total.bytes} bytes), ${copied.objects} of them new.`,
  ];
  if (report.removed > 0)
    lines.push(`Removed ${report.removed} that have been deleted since the last backup.`);
  if (report.deletedMeanwhile > 0) {
    const records =
      report.database === null
        ? "the dump may still contain their records"
        : "a restore contains their records, marked as lost";
    lines.push(`${report.deletedMeanwhile} were deleted while it ran; ${records}.`);
  }
  if (report.database === null) {
    lines.push(
      "The PostgreSQL database is not included: copy it with pg_dump, each time before this command.",
    );
  }
  if (bucket !== null) {
    lines.push(
      `Files in the bucket ${bucket} are not included: protect them with its versioning or replication.`,
    );
  }
  if (!report.hasSecret)
    lines.push("The secret in UPSTOW_SECRET is not included: keep a copy of it elsewhere.");
  if (!isWhole(report)) {
    lines.push(
      `✖ ${report.missing.length} files are missing on the disk and ${report.damaged.length} are damaged; the rest of the backup is complete.`,
      "  → Check the disk. For details, run `upstow doctor`. An older backup may still have the files.",
    );
  }
  return lines.join("\n");
}
