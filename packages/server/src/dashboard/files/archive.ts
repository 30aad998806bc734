import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { makeZip } from "client-zip";
import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { recallServedFile } from "../../serving/queries.ts";
import { objectOfFile, readObject } from "../../serving/stored-bytes.ts";

export type ArchivedFile = Pick<FileRow, "id" | "key" | "name" | "size_bytes">;

/** The ZIP as it is sent, file after file. `goneCount` more were requested. */
export function createArchive(deps: Deps, files: ArchivedFile[], goneCount: number, signal: AbortSignal) {
  const date = new Date(deps.now()).toISOString().slice(0, 10);
  return {
    headers: {
      "content-type": "application/zip",
      "content-disposition": `attachment; filename="files-${date}.zip"`,
    },
    body: Readable.fromWeb(makeZip(listEntries(deps, files, goneCount, signal)) as never),
  };
}

/** Opens one file after another. Files that can't be read are listed in a text file at the end. */
async function* listEntries(deps: Deps, files: ArchivedFile[], goneCount: number, signal: AbortSignal) {
  const nameFor = createArchiveNames();
  const leftOut: string[] = [];
  for (const file of files) {
    // Small files come from memory, and what cannot be read from nowhere: thousands would be one long stall.
    await nextTurn();
    const name = nameFor(file.name);
    const opened = await open(deps, file, signal);
    if (typeof opened === "string") leftOut.push(`${name}: ${opened}`);
    else yield { name, size: file.size_bytes, ...opened };
  }
  if (goneCount > 0) leftOut.push(`Deleted or expired before the download began: ${goneCount}`);
  if (leftOut.length > 0) yield { name: nameFor("Files left out.txt"), input: `${leftOut.join("\n")}\n` };
}

/** Its bytes, or why there are none. */
async function open(deps: Deps, { id, key }: ArchivedFile, signal: AbortSignal) {
  // Read now, because deletions also apply to archives in progress.
  const file = await recallServedFile(deps, key);
  if (file === null) return "not available: not confirmed, held for a scan, expired or deleted";
  const { project_id, environment, size_bytes } = file;
  const reading = { fileId: id, object: objectOfFile(file), isPublicRead: false };
  try {
    const store = await deps.stores.get(file.store);
    const bytes = await readObject(deps, reading, store, { signal });
    const count = (sent: number) => deps.bandwidth.count(project_id, environment, sent);
    const chunks = Buffer.isBuffer(bytes) ? [bytes] : bytes;
    return { lastModified: new Date(file.completed_at ?? 0), input: exactly(chunks, size_bytes, count) };
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

/** Fails where the store has another number of bytes: an archive that is cut off is seen to be. */
async function* exactly(
  chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
  sizeBytes: number,
  count: (bytes: number) => void,
) {
  let leftBytes = sizeBytes;
  for await (const chunk of chunks) {
    leftBytes -= chunk.length;
    if (leftBytes < 0) break;
    yield chunk;
    count(chunk.length);
  }
  if (leftBytes !== 0) throw new Error("the file has another size than recorded");
}

/** Shorter than the 255 bytes of every file system, with room for a number. */
const mostBytes = 200;
const devices = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/**
 * Gives each file a name that every system can unpack: without folders, hidden characters and what Windows rejects, and
 * never twice, even where upper and lower case are the same.
 */
function createArchiveNames(): (fileName: string) => string {
  const taken = new Set<string>();
  /** The last number of each name, because counting from 2 for every one of 10,000 like names takes a minute. */
  const numbers = new Map<string, number>();
  return (fileName) => {
    const { stem, extension } = split(toSafe(fileName));
    let name = stem + extension;
    const folded = fold(name);
    let number = numbers.get(folded) ?? 1;
    while (taken.has(fold(name))) name = `${stem} (${++number})${extension}`;
    numbers.set(folded, number);
    taken.add(fold(name));
    return name;
  };
}

const fold = (name: string) => name.normalize("NFC").toLowerCase();

function toSafe(fileName: string): string {
  const plain = fileName
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "")
    .replaceAll(/[/\\<>:"|?*]/g, "_")
    .replace(/[. ]+$/, "");
  if (plain === "") return "_";
  return devices.test(plain) ? `_${plain}` : plain;
}

function split(name: string): { stem: string; extension: string } {
  const [, stem = name, extension = ""] = /^(.+?)(\.[^. ]{1,16})?$/su.exec(name) ?? [];
  let left = mostBytes - Buffer.byteLength(extension);
  let short = "";
  for (const character of stem) {
    left -= Buffer.byteLength(character);
    if (left < 0) break;
    short += character;
  }
  return { stem: short, extension };
}
