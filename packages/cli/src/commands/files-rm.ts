import type { FileListItem, Upstow } from "@upstow/sdk";
import { type Call, type Command, UsageError } from "../command.ts";
import { confirm } from "../confirm.ts";
import { connect } from "../connection.ts";
import { filterOptions, readFilters } from "../file-filters.ts";
import { clean, countFiles, formatBytes } from "../format.ts";

const keysAtOnce = 100;

export const filesRm: Command = {
  name: "files rm",
  summary: "Delete files; their URLs stop working immediately",
  positionals: [
    { name: "keys", description: "storage keys or ids of files", isRepeated: true, isOptional: true },
  ],
  options: {
    ...filterOptions,
    "dry-run": { description: "only list the files the filters match" },
    purge: { description: "remove the bytes immediately, including files in the trash" },
    yes: { description: "delete the matching files without asking" },
  },
  notes: `Takes keys and ids, or filters: what these find is shown and counted before you are asked.
If the project has a trash, files are moved there unless you pass --purge. \`upstow files restore\` restores them.`,
  async run(call) {
    const filters = readFilters(call.options);
    const isFiltered = Object.keys(filters).length > 0;
    if (isFiltered === call.positionals.length > 0)
      throw new UsageError("Pass keys or ids of files, or select files with filters such as --prefix.");
    const upstow = await connect(call);
    if (!isFiltered) return remove(call, upstow, call.positionals);
    const found: FileListItem[] = [];
    for await (const file of upstow.files.list({ ...filters, limit: keysAtOnce })) found.push(file);
    const summary = `${countFiles(found.length)}, ${formatBytes(found.reduce((sum, { size }) => sum + size, 0))}`;
    const keys = found.map(({ key }) => key);
    if (found.length === 0 || call.options.has("dry-run"))
      return {
        json: { keys, deleted: 0 },
        text: [...keys.map(clean), `Would delete ${summary}.`].join("\n"),
      };
    for (const key of keys) call.note(clean(key));
    if (!(await confirm(call, `Delete ${summary}?`)))
      return { json: { keys, deleted: 0 }, text: "Nothing was deleted." };
    return remove(call, upstow, keys);
  },
};

async function remove(call: Call, upstow: Upstow, keys: readonly string[]) {
  const total = {
    deleted: 0,
    failed: 0,
    failures: [] as { key: string; message: string }[],
    reclaimedBytes: 0,
  };
  for (let at = 0; at < keys.length; at += keysAtOnce) {
    const result = await upstow.files.deleteMany(keys.slice(at, at + keysAtOnce), {
      purge: call.options.has("purge"),
    });
    total.deleted += result.deleted;
    total.failed += result.failed;
    total.failures.push(...result.failures);
    total.reclaimedBytes += result.reclaimedBytes;
    if (keys.length > keysAtOnce) call.progress(`${total.deleted} of ${countFiles(keys.length)} deleted`);
  }
  for (const { key, message } of total.failures) call.note(`✖ ${key}  ${message}`);
  return {
    json: total,
    text: `Deleted ${countFiles(total.deleted)}, ${formatBytes(total.reclaimedBytes)}.`,
    ok: total.failed === 0,
  };
}
