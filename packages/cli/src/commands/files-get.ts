import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { FileListItem, FileQuery, Upstow } from "@upstow/sdk";
import { type Call, type Command, OperatorError, type Result, UsageError } from "../command.ts";
import { connect, readableUrl } from "../connection.ts";
import { downloadFile, isDownloaded } from "../download-file.ts";
import { filterOptions, readFilters } from "../file-filters.ts";
import { clean, countFiles, formatBytes } from "../format.ts";
import { givenPath } from "../given-path.ts";
import { savedName } from "../saved-name.ts";

export const filesGet: Command = {
  name: "files get",
  summary: "Download a file, or all files matching filters, and verify the bytes",
  positionals: [
    {
      name: "key",
      description: "the file's storage key, as `upstow files ls` shows it, or its id",
      isOptional: true,
    },
  ],
  options: {
    output: { value: "PATH", description: "a file or folder to write to (default: the file's name, here)" },
    force: { description: "replace an existing file once the download is complete" },
    ...filterOptions,
  },
  notes: `Without --force, no file is overwritten. Stored names that begin with a dot are not used: choose a name with
--output. If several files have the same name, all but the first get their id as a prefix.`,
  async run(call) {
    const [keyOrId] = call.positionals;
    const filters = readFilters(call.options);
    if ((keyOrId === undefined) === (Object.keys(filters).length === 0))
      throw new UsageError("Pass a file's key or id, or select files with filters such as --prefix.");
    const output = call.options.find("output");
    if (output === "-") {
      throw new UsageError(
        "--output must be a path, because the file is verified before it is saved. For a file named -, use ./-.",
      );
    }
    return keyOrId === undefined ? getFound(call, filters, output) : getOne(call, keyOrId, output);
  },
};

async function getOne(call: Call, keyOrId: string, output: string | undefined): Promise<Result> {
  const upstow = await connect(call);
  const file = await upstow.files.get(keyOrId);
  const folder = await findFolder(call, output);
  const path = folder === null ? givenPath(call, output ?? ".") : join(folder, savedName(file.name));
  const { isThere, ...saved } = await save(call, upstow, file, path);
  if (isThere) return { json: saved, text: `${clean(path)} already exists with the same bytes.` };
  const checked = saved.isVerified ? ", verified by SHA-256" : "";
  return { json: saved, text: `Wrote ${clean(path)}, ${formatBytes(file.size)}${checked}.` };
}

/** A file that cannot be saved does not stop the others. */
async function getFound(call: Call, filters: FileQuery, output: string | undefined): Promise<Result> {
  const folder = await findFolder(call, output);
  if (folder === null) throw new UsageError("With filters, --output must be an existing folder.");
  const upstow = await connect(call);
  const files: object[] = [];
  const failures: { key: string; message: string }[] = [];
  const taken = new Set<string>();
  for await (const file of upstow.files.list({ ...filters, status: "UPLOADED", limit: 100 })) {
    try {
      const name = savedName(file.name);
      const path = join(folder, taken.has(name) ? savedName(`${file.id}-${name}`) : name);
      taken.add(name);
      const { isThere: _, ...saved } = await save(call, upstow, file, path);
      files.push(saved);
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      failures.push({ key: file.key, message: error.message });
      call.note(`✖ ${clean(file.key)}  ${error.message}`);
    }
  }
  return {
    json: { files, failures },
    text: `Downloaded ${countFiles(files.length)}${failures.length === 0 ? "" : `, ${failures.length} failed`}.`,
    ok: failures.length === 0,
  };
}

async function save(call: Call, upstow: Upstow, file: FileListItem, path: string) {
  const facts = { path, key: file.key, size: file.size, sha256: file.sha256 };
  const replace = call.options.has("force");
  if (!replace && (await isDownloaded(file, path))) return { ...facts, isVerified: true, isThere: true };
  const onProgress = (receivedBytes: number) =>
    call.progress(`${clean(path)}  ${formatBytes(receivedBytes)} of ${formatBytes(file.size)}`);
  const url = await readableUrl(upstow, file);
  const isVerified = await downloadFile({ ...file, url }, path, { replace, onProgress });
  return { ...facts, isVerified, isThere: false };
}

/** Stored names may be paths, so nothing is written outside this folder unless --output says so. Null for a file. */
async function findFolder(call: Call, output: string | undefined): Promise<string | null> {
  const path = givenPath(call, output ?? ".");
  const isFolder = output === undefined || (await stat(path).catch(() => null))?.isDirectory() === true;
  return isFolder ? path : null;
}
