import { resolve } from "node:path";
import type { CompletedFile, FileObject } from "@upstow/sdk";
import { type Command, UsageError } from "../command.ts";
import { connect, getConnection } from "../connection.ts";
import { adviseOnRest, explainError } from "../explain-error.ts";
import { clean, countFiles, formatBytes } from "../format.ts";
import { givenPath } from "../given-path.ts";
import { interruptible } from "../interruptible.ts";
import { readMetadata, readNumberOrNone } from "../option-values.ts";
import { collectFiles, type LeftOut, type LocalFile } from "../upload/collect-files.ts";
import { findStored } from "../upload/find-stored.ts";
import { uploadStdin } from "../upload/from-stdin.ts";
import { importUrls, isUrl } from "../upload/import-urls.ts";
import { createProgressBars } from "../upload/progress-bars.ts";
import { openRunJournal } from "../upload/run-journal.ts";
import { openUnfinishedUploads } from "../upload/unfinished-uploads.ts";
import { uploadFiles } from "../upload/upload-files.ts";

/** Across all files and their parts. */
const bodiesAtOnce = 9;

export const upload: Command = {
  name: "upload",
  summary: "Upload files, folders recursively, and files from URLs",
  positionals: [
    {
      name: "files",
      description: "paths of files and folders, URLs that the service fetches, or - for stdin",
      isRepeated: true,
    },
  ],
  options: {
    route: { value: "SLUG", description: "the file route to upload to (default: default)" },
    metadata: { value: "JSON", description: "an object to store with every file" },
    name: { value: "NAME", description: "the name of the file from stdin (default: stdin)" },
    "expires-in": {
      value: "SECONDS",
      description: "delete the files after this time, or none to keep them (default: the route's)",
    },
  },
  notes: `Files over 10 MB are uploaded in parts. If interrupted, run the same command again within seven days to upload the
missing files and parts, as long as the files are unchanged.
Smaller files are requested and completed in batches of up to 100. Waits for the rate limit are shown on stderr.
Files in a folder are named by their path within it. Empty files and symbolic links in folders are skipped and listed.
With -, stdin becomes one file of any size: pg_dump app | upstow upload - --name app.sql
The service fetches URLs by itself and needs no bytes from here; each has to be public and https.
Exits with code 1 if a file failed, or if there was nothing to upload.`,
  async run(call) {
    const routeSlug = call.options.find("route") ?? "default";
    const metadata = readMetadata(call.options);
    const life = readLife(call.options.find("expires-in"));
    const options = { routeSlug, ...(metadata === undefined ? {} : { metadata }), ...life };
    if (call.positionals.includes("-")) return uploadStdin(call, options);
    if (call.options.has("name"))
      throw new UsageError("--name is for a file from stdin: upload - --name NAME");
    const urls = call.positionals.filter(isUrl);
    const paths = call.positionals.filter((text) => !isUrl(text)).map((path) => givenPath(call, path));
    const { files: all, leftOut } = await collectFiles(paths);
    const connection = getConnection(call);
    const run = [
      connection,
      routeSlug,
      metadata,
      ...(life === undefined ? [] : [life]),
      paths.map((path) => resolve(path)),
    ];
    const journal = openRunJournal(call.env, run);
    const earlier = await findStored(all, journal);
    const files = all.filter((file) => !earlier.has(file));
    const bytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
    const stored: ({ path: string } & CompletedFile)[] = [];
    const imported: ({ path: string } & FileObject)[] = [];
    const failures: { path: string; code: string; message: string }[] = [];
    const fail = ({ path, name }: LocalFile, error: unknown) => {
      const { code, message } = explainError(error);
      failures.push({ path, code, message });
      call.note(`✖ ${clean(name)}  ${message}`);
    };
    for (const { name, reason } of leftOut) call.note(`- ${clean(name)}  left out: ${reasons[reason].why}`);
    await interruptible(call, async () => {
      const upstow = await connect(call, { concurrency: bodiesAtOnce });
      await importUrls({
        ...{ upstow, urls, options, draw: call.progress },
        onDone(url, file) {
          imported.push({ path: url, ...file });
          call.note(`✔ ${clean(file.name)}  ${file.url}`);
        },
        onFailed(url, error) {
          const { code, message } = explainError(error);
          failures.push({ path: url, code, message });
          call.note(`✖ ${clean(url)}  ${message}`);
        },
      });
      await uploadFiles({
        upstow,
        files,
        prepare: ({ path }) => ({ source: path, options }),
        unfinished: openUnfinishedUploads(call.env, connection, options),
        bars: createProgressBars({ files: files.length, bytes }, call.progress),
        onDone(local, file) {
          journal.add(local, file);
          stored.push({ path: local.path, ...file });
          call.note(`✔ ${clean(file.name)}  ${file.url}`);
        },
        onFailed: fail,
      });
    });
    const isDone = stored.length === files.length;
    if (isDone) journal.end();
    const fetched =
      urls.length === 0 ? "" : ` Imported ${imported.length} of ${countFiles(urls.length)} from URLs.`;
    const done = isDone
      ? `Uploaded ${countFiles(stored.length)}, ${formatBytes(bytes)}.`
      : `Uploaded ${stored.length} of ${countFiles(files.length)}. ${adviseOnRest(failures)}`;
    const nothing = urls.length === 0 ? "Nothing to upload." : "";
    const before = earlier.size === 0 ? "" : ` The previous run stored ${earlier.size}.`;
    const keptFiles = [...earlier].map(([{ path }, file]) => ({ path, ...file }));
    return {
      json: { files: [...keptFiles, ...stored, ...imported], failures, leftOut },
      text: `${all.length === 0 ? nothing : done}${countLeftOut(leftOut)}${before}${fetched}`.trim(),
      ok: failures.length === 0 && all.length + urls.length > 0,
    };
  },
};

function readLife(value: string | undefined): { expiresIn: number } | { expiresAt: null } | undefined {
  if (value === undefined) return undefined;
  const expiresIn = readNumberOrNone("--expires-in", value, 1);
  return expiresIn === null ? { expiresAt: null } : { expiresIn };
}

const reasons = {
  empty: { why: "the file is empty", one: "empty file", many: "empty files" },
  link: {
    why: "links are not followed; pass it as an argument to upload its target",
    one: "link",
    many: "links",
  },
  special: { why: "neither a file nor a folder", one: "special file", many: "special files" },
};

function countLeftOut(leftOut: LeftOut[]): string {
  const counts = Object.entries(reasons).flatMap(([reason, { one, many }]) => {
    const count = leftOut.filter((entry) => entry.reason === reason).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  });
  return counts.length === 0 ? "" : ` Left out: ${counts.join(", ")}.`;
}
