import { sql } from "#kysely";
import type { FileRow, VariantRow } from "../db/schema.ts";
import { statement } from "../db/statement.ts";
import type { Deps } from "../deps.ts";
import { endOf } from "../files/life.ts";
import { fileDamaged, fileNotFound } from "../kernel/errors.ts";
import { isId } from "../kernel/ids.ts";
import type { ObjectBytes, ObjectStore, ReadOptions } from "../storage/object-store.ts";
import { objectKey } from "../storage/storage-key.ts";
import type { ServedFile } from "./queries.ts";
import type { ServedObject } from "./send-object.ts";

const objectColumns = ["key", "stored_apart", "etag", "store_etag", "sha256", "upload_id"] as const;

/** The object that a file's row refers to. */
export interface ObjectOfFile {
  storeKey: string;
  /** The object must have this one; undefined if it is not recorded. */
  storeEtag: string | undefined;
}

export function objectOfFile(file: Pick<FileRow, (typeof objectColumns)[number]>): ObjectOfFile {
  const storeEtag = file.store_etag ?? (isEtagOfDisk(file) ? null : file.etag);
  return { storeKey: objectKey(file), storeEtag: storeEtag || undefined };
}

/** The same for an image variant. */
export function etagOfVariant({
  etag,
  store_etag,
}: Pick<VariantRow, "etag" | "store_etag">): string | undefined {
  return (store_etag ?? etag) || undefined;
}

/** Moved to a bucket before `store_etag` was recorded. Only the disk knows a SHA-256, and has ids like ours. */
function isEtagOfDisk({ sha256, upload_id }: Pick<FileRow, "sha256" | "upload_id">): boolean {
  return sha256 !== null || (upload_id !== null && isId(upload_id));
}

const findPlace = statement((q, p: { id: string }) =>
  q
    .selectFrom("file")
    .select([...objectColumns, "access"])
    .where("id", "=", p.id)
    // Bytes in the trash have to be there as well.
    .where(sql<boolean>`(status = 'UPLOADED' or purge_at is not null)`),
);

interface Reading {
  fileId: string;
  object: ObjectOfFile;
  /** The right to read it was that it is public. */
  isPublicRead: boolean;
}

export interface Outcome<T> {
  found: T | null;
  /** Nothing was found although there has to be something. */
  isDamaged: boolean;
}

/** More than a change back and forth during one read. */
const mostPlaces = 3;

/**
 * Looks at a file's object. A change of access moves it: if it is gone, it is looked for where its row says now. Rows
 * change before bytes are removed, so bytes that are missing although their row still refers to them are lost.
 */
export async function lookWhereItIs<T>(
  { db }: Pick<Deps, "db">,
  { fileId, isPublicRead, object: recorded }: Reading,
  look: (object: ObjectOfFile) => Promise<T | null>,
): Promise<Outcome<T>> {
  let object = recorded;
  for (let places = 1; places <= mostPlaces; places++) {
    const found = await look(object);
    if (found !== null) return { found, isDamaged: false };
    const place = await db.get(findPlace, { id: fileId });
    if (place === null || (isPublicRead && place.access === "private")) break;
    const current = objectOfFile(place);
    if (current.storeKey === object.storeKey && current.storeEtag === object.storeEtag)
      return { found: null, isDamaged: true };
    object = current;
  }
  return { found: null, isDamaged: false };
}

/** Throws the caller's error if the file is gone or damaged. */
export async function readStored<T>(
  deps: Pick<Deps, "db" | "onDamagedRead">,
  reading: Reading,
  read: (object: ObjectOfFile) => Promise<T | null>,
): Promise<T> {
  const outcome = await lookWhereItIs(deps, reading, read);
  if (outcome.found !== null) return outcome.found;
  if (!outcome.isDamaged) throw fileNotFound();
  deps.onDamagedRead(reading.fileId);
  throw fileDamaged();
}

/**
 * Reads a file's object. Where the store has to ask for the rest again, a change of access in between does not cut it
 * off: the reader had the right when it began.
 */
export function readObject(
  deps: Pick<Deps, "db" | "onDamagedRead">,
  reading: Reading,
  store: Pick<ObjectStore, "read">,
  options: Pick<ReadOptions, "range" | "signal"> = {},
): Promise<ObjectBytes> {
  const findMoved = async () => {
    const place = await deps.db.get(findPlace, { id: reading.fileId });
    if (place === null) return null;
    const { storeKey: key, storeEtag: etag } = objectOfFile(place);
    return { key, etag };
  };
  return readStored(deps, reading, ({ storeKey, storeEtag: etag }) =>
    store.read(storeKey, { ...options, etag, findMoved }),
  );
}

type Sharing = Pick<ServedObject, "privacy" | "mayBeShared">;

/** One object per row, because the database returns the same row repeatedly. */
export function createServedFiles(
  sharingOf: (file: ServedFile) => Sharing,
): (file: ServedFile) => ServedObject {
  const served = new WeakMap<ServedFile, ServedObject>();
  return (file) => {
    let object = served.get(file);
    if (object === undefined) {
      object = {
        ...sharingOf(file),
        fileId: file.id,
        isLasting: true,
        endsAtMs: endOf(file),
        store: file.store,
        ...objectOfFile(file),
        sizeBytes: file.size_bytes,
        etag: file.etag ?? "",
        modifiedMs: file.completed_at ?? 0,
        contentType: file.type,
        fileName: file.name,
        projectId: file.project_id,
        environment: file.environment,
      };
      served.set(file, object);
    }
    return object;
  };
}
