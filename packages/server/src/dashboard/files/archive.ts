import { Readable } from "node:stream";
import { ARCHIVE_BYTES_MAX, ARCHIVE_FILES_MAX, ARCHIVES_PER_MINUTE, Type } from "@upstow/contract";
import { makeZip } from "client-zip";
import type { FileRow } from "../../db/schema.ts";
import { isOneOf, statement } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import { notEnded } from "../../files/life.ts";
import type { Scope } from "../../files/queries.ts";
import { type ApiApp, signalGone } from "../../http/request-context.ts";
import type { Actor } from "../../kernel/actor.ts";
import { AppError, invalid, notFound } from "../../kernel/errors.ts";
import { recallServedFile } from "../../serving/queries.ts";
import { objectOfFile, readStored } from "../../serving/stored-bytes.ts";
import { spend } from "../throttle.ts";

const oneId = "[0-9a-hjkmnp-tv-z]{26}";
const ArchiveQuery = Type.Object({
  ids: Type.String({
    pattern: `^${oneId}(?:,${oneId}){0,${ARCHIVE_FILES_MAX - 1}}$`,
    maxLength: 27 * ARCHIVE_FILES_MAX,
  }),
});

const listChosen = statement((q, p: Scope & { idsJson: string; now: number }, dialect) =>
  q
    .selectFrom("file")
    .select(["id", "key", "name", "size_bytes"])
    .where(isOneOf(dialect, "id", p.idsJson))
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("status", "<>", "DELETED")
    .where(notEnded(p.now))
    .orderBy("id"),
);
export type ArchivedFile = Pick<FileRow, "id" | "key" | "name" | "size_bytes">;

/** A GET, because only then does the browser write the archive to disk as it arrives. */
export function archiveRoutes(app: ApiApp, deps: Deps): void {
  app.get("/files/archive", { schema: { querystring: ArchiveQuery } }, async ({ actor, query }, reply) => {
    const ids = [...new Set(query.ids.split(","))];
    const { projectId, environment } = actor;
    await spendArchive(deps, actor);
    const files = await deps.db.all(listChosen, {
      projectId,
      environment,
      idsJson: JSON.stringify(ids),
      now: deps.now(),
    });
    if (files.length === 0) throw notFound("File");
    const totalBytes = files.reduce((sum, file) => sum + file.size_bytes, 0);
    if (totalBytes > ARCHIVE_BYTES_MAX) {
      throw invalid("ids", `has ${totalBytes} bytes, and an archive at most ${ARCHIVE_BYTES_MAX}`);
    }
    const archive = createArchive(deps, files, ids.length - files.length, signalGone(reply.raw));
    return reply.headers(archive.headers).send(archive.body);
  });
}

export function spendArchive(deps: Deps, { accountId }: Actor): Promise<void> {
  return spend(deps, `archive:${accountId}`, ARCHIVES_PER_MINUTE);
}

/** The ZIP as it is sent, file after file. `goneCount` more were asked for. */
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

/** Opens one file after another. What cannot be read by then is named in a text at the end. */
async function* listEntries(deps: Deps, files: ArchivedFile[], goneCount: number, signal: AbortSignal) {
  const nameFor = createArchiveNames();
  const leftOut: string[] = [];
  for (const file of files) {
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
  // Read now, because a deletion holds for archives that are on their way.
  const file = await recallServedFile(deps, key);
  if (file === null) return "not available: not confirmed, held for a scan, expired or deleted";
  const { project_id, environment, size_bytes } = file;
  const reading = { fileId: id, object: objectOfFile(file), isPublicRead: false };
  try {
    const store = await deps.stores.get(file.store);
    const bytes = await readStored(deps, reading, ({ storeKey, storeEtag: etag }) =>
      store.read(storeKey, { etag, signal }),
    );
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
 * Gives each file a name that every system can unpack: without folders, hidden characters and what Windows refuses, and
 * never twice, even where upper and lower case are the same.
 */
function createArchiveNames(): (fileName: string) => string {
  const taken = new Set<string>();
  return (fileName) => {
    const { stem, extension } = split(toSafe(fileName));
    let name = stem + extension;
    for (let n = 2; taken.has(fold(name)); n++) name = `${stem} (${n})${extension}`;
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
  let short = stem;
  while (Buffer.byteLength(short + extension) > mostBytes) short = [...short].slice(0, -1).join("");
  return { stem: short, extension };
}
