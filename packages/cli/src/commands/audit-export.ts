import { type FileHandle, open } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Command, OperatorError, type Options } from "../command.ts";
import { givenPath } from "../given-path.ts";
import { readChoice } from "../option-values.ts";
import { withDatabase } from "../with-database.ts";

export const auditExport: Command = {
  name: "audit export",
  summary: "Write the audit log to a new file, newest entries first",
  positionals: [{ name: "file", description: "a file that does not exist yet" }],
  options: {
    format: { value: "F", description: "csv, or jsonl for JSON lines (default: jsonl)" },
    project: { value: "ID", description: "only entries of this project" },
    author: { value: "A", description: "only changes by this account or key id, or part of a name" },
    action: { value: "A", description: "only this action, such as key.created" },
    since: { value: "T", description: "only from this time on, such as 2026-11-17T08:00:00Z" },
    until: { value: "T", description: "only before this time" },
  },
  notes: "The file is readable by its owner only. Entries are kept for UPSTOW_AUDIT_RETENTION_DAYS.",
  async run(call) {
    const { exportTrail } = await import("@upstow/server/projects/audit/read-trail");
    const { createFairTurns } = await import("@upstow/server/kernel/fair-turns");
    const file = givenPath(call, call.positionals[0] ?? "");
    const format = readChoice("--format", call.options.find("format") ?? "jsonl", ["csv", "jsonl"]);
    const projectId = call.options.find("project");
    const scope = projectId === undefined ? "all" : { projectId };
    const filter = await readFilter(call.options);
    const output = (await openNew(file)).createWriteStream();
    const alone = { turns: createFairTurns(), accountId: "operator" };
    await withDatabase(call, ({ db }) =>
      pipeline(Readable.from(exportTrail({ db, ...alone }, scope, filter, format)), output),
    );
    return {
      json: { file, format, bytes: output.bytesWritten },
      text: `Wrote ${output.bytesWritten} bytes to ${file}.`,
    };
  },
};

async function openNew(file: string): Promise<FileHandle> {
  try {
    return await open(file, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new OperatorError("IN_USE", `${file} already exists. Choose another name.`);
  }
}

async function readFilter(options: Options) {
  const { AUDIT_ACTIONS } = await import("@upstow/contract");
  const { boundsOf, startPage } = await import("@upstow/server/http/paging");
  const [since, until] = [options.find("since"), options.find("until")];
  const action = options.find("action");
  const { before } = startPage({});
  return {
    ...boundsOf({ ...(since && { since }), ...(until && { until }) }, before),
    author: options.find("author"),
    action: action === undefined ? undefined : readChoice("--action", action, AUDIT_ACTIONS),
  };
}
