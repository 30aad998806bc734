import { CONTENT_TYPE_MAX, CONTENT_TYPE_PATTERN, PART_SIZE_BYTES } from "@upstow/contract";
import type { FileImportRow } from "../../db/files-schema.ts";
import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import type { Actor } from "../../kernel/actor.ts";
import { AppError } from "../../kernel/errors.ts";
import { findRoute } from "../../projects/file-routes/find-route.ts";
import type { ClaimedPart, ObjectStore } from "../../storage/object-store.ts";
import { objectKey } from "../../storage/storage-key.ts";
import { hasEnded } from "../life.ts";
import { finishUpload } from "../uploads/finish-upload.ts";
import { describeUpload, receiveParts, TooManyBytes } from "../uploads/receive-parts.ts";
import { checkType, sizeLimit } from "../uploads/rules.ts";
import { sealAssembled, sealParts } from "../uploads/seal.ts";
import { changed, ImportFailure, ImportLost } from "./failure.ts";
import type { OpenSource, Source } from "./open-source.ts";
import { findOpenFile, findOwner, forgetImport, noteSource } from "./queries.ts";

export const urlPurpose = "import source";

/** A row that this worker may work on until its lease ends. */
export interface Claim extends FileImportRow {
  token: string;
}

export interface Progress {
  receivedBytes: number;
  totalBytes: number | null;
}

type Owner = Pick<Actor, "projectId" | "accountId" | "cdnUrl" | "tier" | "environment">;

interface Run {
  claim: Claim;
  owner: Owner;
  store: ObjectStore;
  limitBytes: number;
  progress: Progress;
}

/** One attempt, from the request to the confirmed file. Throws `ImportFailure` or `ImportLost`. */
export async function runImport(
  deps: Deps,
  openSource: OpenSource,
  claim: Claim,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const file = await deps.db.get(findOpenFile, { id: claim.file_id });
  if (file === null || hasEnded(file, deps.now)) throw new ImportLost();
  const found = await deps.db.get(findOwner, { projectId: file.project_id });
  const route = await findRoute(deps.db, file.project_id, file.route_slug);
  if (found === null || route === null) throw orphaned();
  const owner = { ...found, environment: file.environment };
  const store = await deps.stores.get(file.store);
  const limitBytes = sizeLimit(route, owner.tier);
  const run: Run = { claim, owner, store, limitBytes, progress };

  const earlier = await findEarlier(store, file, claim);
  if (earlier.isWhole) return finish(deps, run, file, earlier.parts);
  const { etag } = claim;
  const fromByte = earlier.parts.length * PART_SIZE_BYTES;
  const resume = etag === null || fromByte === 0 ? null : { fromByte, etag };
  const source = await openSource(deps.keyring.decrypt(claim.url_sealed, urlPurpose), resume, signal);
  try {
    const type = typeOf(file, claim, source);
    checkType(route, type);
    const begun = await begin(deps, run, file, source, type);
    const received = source.fromByte === 0 ? [] : earlier.parts;
    await receive(deps, run, begun, source, received);
  } finally {
    source.close();
  }
}

const orphaned = () => new ImportFailure("storage", "Its project or file route was deleted in the meantime.");

interface Earlier {
  /** Full parts from the first one on, or all parts if that is everything. Empty once they are assembled. */
  parts: ClaimedPart[];
  isWhole: boolean;
}

/** The bytes stored by an earlier attempt; only the store knows reliably. */
async function findEarlier(store: ObjectStore, file: FileRow, claim: Claim): Promise<Earlier> {
  if (file.upload_id === null) return { parts: [], isWhole: false };
  const listed = await store.listParts({ key: objectKey(file), uploadId: file.upload_id });
  // Assembled by a worker that could not confirm the file any more.
  if (listed === null) return { parts: [], isWhole: true };
  const following = listed.filter(({ partNumber }, i) => partNumber === i + 1);
  const storedBytes = following.reduce((sum, part) => sum + part.sizeBytes, 0);
  const isWhole = listed.length > 0 && claim.total_bytes === storedBytes;
  const end = following.findIndex(({ sizeBytes }) => sizeBytes !== PART_SIZE_BYTES);
  return { parts: isWhole || end === -1 ? following : following.slice(0, end), isWhole };
}

const typePattern = new RegExp(CONTENT_TYPE_PATTERN);
const unknownType = "application/octet-stream";

function typeOf(file: FileRow, claim: Claim, { contentType }: Source): string {
  if (claim.guesses_type === 0) return file.type;
  const type = contentType ?? "";
  return type.length <= CONTENT_TYPE_MAX && typePattern.test(type) ? type : unknownType;
}

/** Records what the source has said, so that the next attempt can tell whether it is still the same. */
async function begin(deps: Deps, run: Run, file: FileRow, source: Source, type: string): Promise<FileRow> {
  const { claim, store, limitBytes, progress } = run;
  const { totalBytes, etag } = source;
  if (totalBytes !== null && totalBytes > limitBytes) throw tooLarge(limitBytes);
  const key = objectKey(file);
  const uploadId =
    file.upload_id ?? (await store.startMultipart({ key, contentType: type, sizeBytes: limitBytes }));
  progress.totalBytes = totalBytes;
  const held = { fileId: file.id, token: claim.token };
  if ((await deps.db.run(noteSource, { ...held, etag, totalBytes })) === 0) throw new ImportLost();
  try {
    return await describe(deps, run, file, { uploadId, type, sizeBytes: totalBytes ?? file.size_bytes });
  } catch (error) {
    if (file.upload_id === null) await store.abortMultipart({ key, uploadId }).catch(() => {});
    throw error;
  }
}

function tooLarge(limitBytes: number): ImportFailure {
  return new ImportFailure("too_large", `The file is larger than the ${limitBytes} bytes allowed here.`);
}

/** While the size is unknown, this much is reserved at least, and then twice as much each time. */
const firstReservationBytes = 2 * PART_SIZE_BYTES;

async function receive(
  deps: Deps,
  run: Run,
  begun: FileRow,
  source: Source,
  received: readonly ClaimedPart[],
): Promise<void> {
  const { store, limitBytes, progress, claim } = run;
  let file = begun;
  const uploadId = file.upload_id ?? "";
  const { type } = file;
  const resize = async (sizeBytes: number) => {
    file = await describe(deps, run, file, { uploadId, type, sizeBytes });
  };
  progress.receivedBytes = source.fromByte;
  const arrived = await receiveParts({
    store,
    upload: { key: objectKey(file), uploadId },
    received,
    chunks: source.chunks(),
    limitBytes,
    async reserve(sizeBytes) {
      if (sizeBytes <= file.size_bytes) return;
      await resize(Math.min(limitBytes, Math.max(sizeBytes, 2 * file.size_bytes, firstReservationBytes)));
    },
    onReceived(sizeBytes) {
      progress.receivedBytes = sizeBytes;
    },
  }).catch((error: unknown) => {
    throw error instanceof TooManyBytes ? tooLarge(limitBytes) : error;
  });
  await resize(arrived.sizeBytes);
  progress.totalBytes = arrived.sizeBytes;
  const noted = { etag: source.etag, totalBytes: arrived.sizeBytes };
  if ((await deps.db.run(noteSource, { fileId: file.id, token: claim.token, ...noted })) === 0)
    throw new ImportLost();
  await finish(deps, run, file, arrived.parts);
}

async function describe(
  deps: Deps,
  { owner }: Run,
  file: FileRow,
  described: Parameters<typeof describeUpload>[3],
): Promise<FileRow> {
  const changed = await describeUpload(deps, owner, file, described);
  if (changed === null) throw new ImportLost();
  return changed;
}

async function finish(deps: Deps, { claim, owner }: Run, file: FileRow, parts: ClaimedPart[]): Promise<void> {
  const uploadId = file.upload_id ?? "";
  const seal = await (parts.length === 0
    ? sealAssembled(deps, file)
    : sealParts(deps, file, { uploadId, parts }));
  const finished = await finishUpload(deps, owner, {
    file,
    seal,
    metadata: null,
    async onSaved(tx) {
      const held = { fileId: file.id, token: claim.token };
      if ((await tx.run(forgetImport, held)) === 0) throw new ImportLost();
      // Nobody could delete the file any more.
      if ((await tx.get(findOwner, { projectId: file.project_id })) === null) throw orphaned();
    },
  }).catch((error: unknown) => {
    // The file was deleted or has expired.
    throw error instanceof AppError && error.code === "NOT_FOUND" ? new ImportLost() : error;
  });
  if (!finished.ok) throw changed();
}
