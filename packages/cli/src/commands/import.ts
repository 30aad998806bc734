import { writeFile } from "node:fs/promises";
import type { Call, Command, OptionSpec, Result } from "../command.ts";
import { connect, getConnection } from "../connection.ts";
import { adviseOnRest } from "../explain-error.ts";
import { clean, countFiles, formatBytes } from "../format.ts";
import { givenPath } from "../given-path.ts";
import { type Imported, importFiles, planImport } from "../import/import-files.ts";
import type { ImportSource } from "../import/source.ts";
import { openBucket, openFolder, openSupabase, openUploadThing } from "../import/sources.ts";
import { interruptible } from "../interruptible.ts";
import { readMetadata } from "../option-values.ts";
import { openUnfinishedUploads } from "../upload/unfinished-uploads.ts";

const commonOptions: Record<string, OptionSpec> = {
  route: { value: "SLUG", description: "the file route to import to (default: default)" },
  metadata: { value: "JSON", description: "an object to store with every file" },
  map: { value: "FILE", description: "write a table of imported files: old name, tab, new URL" },
  "dry-run": { description: "only show what would be imported" },
};

const notes = `Files pass through this machine and are never on its disk. Run the command again at any time: it imports what is
missing or has changed, and nothing twice. Each file remembers its origin in the metadata importedFrom and importedId.
Empty files are left out. A file that fails does not stop the others. Exit code 1 when a file failed, or nothing was found.`;

export const importUploadThing: Command = {
  name: "import uploadthing",
  summary: "Copy all files of an UploadThing app (UPLOADTHING_TOKEN)",
  options: commonOptions,
  notes,
  run: (call) => runImport(call, openUploadThing(call.env)),
};

export const importSupabase: Command = {
  name: "import supabase",
  summary:
    "Copy a bucket of Supabase Storage (SUPABASE_URL, SUPABASE_SECRET_KEY or SUPABASE_SERVICE_ROLE_KEY)",
  positionals: [{ name: "bucket", description: "the bucket's name" }],
  options: { prefix: { value: "P", description: "only this folder" }, ...commonOptions },
  notes,
  run: (call) =>
    runImport(call, openSupabase(call.env, call.positionals[0] ?? "", call.options.find("prefix") ?? "")),
};

export const importS3: Command = {
  name: "import s3",
  summary:
    "Copy a bucket of any S3-compatible store (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN)",
  positionals: [{ name: "bucket", description: "the bucket's name" }],
  options: {
    prefix: { value: "P", description: "only keys that start with this" },
    endpoint: { value: "URL", description: "the store's URL (default: AWS_ENDPOINT_URL, or Amazon S3)" },
    region: { value: "R", description: "the region (default: AWS_REGION, or us-east-1)" },
    ...commonOptions,
  },
  notes,
  run: async (call) =>
    runImport(
      call,
      await openBucket(call.env, {
        bucket: call.positionals[0] ?? "",
        prefix: call.options.find("prefix") ?? "",
        endpoint: call.options.find("endpoint"),
        region: call.options.find("region"),
      }),
    ),
};

export const importFolder: Command = {
  name: "import folder",
  summary: "Copy a local folder; unlike upload, running it again stores nothing twice",
  positionals: [{ name: "folder", description: "its path" }],
  options: commonOptions,
  notes,
  run: (call) => runImport(call, openFolder(givenPath(call, call.positionals[0] ?? ""))),
};

async function runImport(call: Call, source: ImportSource): Promise<Result> {
  try {
    return await interruptible(call, () => importFrom(call, source));
  } finally {
    source.close?.();
  }
}

/** Across all files and their parts. */
const bodiesAtOnce = 6;

async function importFrom(call: Call, source: ImportSource): Promise<Result> {
  const routeSlug = call.options.find("route") ?? "default";
  const metadata = readMetadata(call.options) ?? {};
  const upstow = await connect(call, { concurrency: bodiesAtOnce });
  const { before, entries, leftOut } = await planImport(call, upstow, source);
  for (const { id, leftOut: why } of leftOut) call.note(`- ${clean(id)}  left out: ${why}`);
  const bytes = formatBytes(entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
  const counts = [
    before.length === 0 ? "" : ` Imported before: ${countFiles(before.length)}.`,
    leftOut.length === 0 ? "" : ` Left out: ${countFiles(leftOut.length)}.`,
  ].join("");
  const leftOutJson = leftOut.map(({ id, leftOut: reason }) => ({ source: id, reason }));
  if (call.options.has("dry-run")) {
    for (const { id, sizeBytes } of entries) call.note(`+ ${clean(id)}  ${formatBytes(sizeBytes)}`);
    return {
      json: {
        planned: entries.map(({ id, sizeBytes }) => ({ source: id, size: sizeBytes })),
        before,
        leftOut: leftOutJson,
      },
      text: `Would import ${countFiles(entries.length)}, ${bytes}.${counts}`,
    };
  }
  const unfinished = openUnfinishedUploads(call.env, getConnection(call), {
    routeSlug,
    metadata: { ...metadata, from: source.label },
  });
  const { imported, failures } = await importFiles({
    call,
    upstow,
    source,
    entries,
    routeSlug,
    metadata,
    unfinished,
  });
  const map = call.options.find("map");
  if (map !== undefined) await writeMap(givenPath(call, map), [...before, ...imported]);
  const isDone = imported.length === entries.length;
  const done = isDone
    ? `Imported ${countFiles(entries.length)}, ${bytes}.`
    : `Imported ${imported.length} of ${countFiles(entries.length)}. ${adviseOnRest(failures)}`;
  const isNothing = entries.length + before.length === 0;
  return {
    json: { imported, before, leftOut: leftOutJson, failures },
    text: `${isNothing ? "Nothing to import." : done}${counts}`,
    ok: isDone && !isNothing,
  };
}

async function writeMap(path: string, files: Imported[]): Promise<void> {
  const lines = files.map(({ source, url }) => `${source.replaceAll(/[\t\r\n]/g, " ")}\t${url}\n`);
  await writeFile(path, lines.sort().join(""));
}
