import { sql } from "#kysely";
import type { DamageReason, FileRow } from "../../db/schema.ts";
import { isOneOf, statement } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import { keepsBytes } from "../../files/life.ts";
import type { CounterDrift, CounterScope } from "../../projects/usage/recount.ts";
import { lookWhereItIs, objectOfFile } from "../../serving/stored-bytes.ts";
import { type InspectOptions, StorageUnavailable } from "../../storage/object-store.ts";

export type CheckFilesDeps = Pick<Deps, "db" | "store" | "stores" | "now">;

export const pageSize = 200;
const concurrency = 32;
/** If their bytes are read. */
const readersAtOnce = 8;

const checkedColumns = [
  "id",
  "key",
  "status",
  "size_bytes",
  "sha256",
  "etag",
  "store_etag",
  "store",
  "upload_id",
  "stored_apart",
  "purge_at",
] as const;
type CheckedFile = Pick<FileRow, (typeof checkedColumns)[number]>;

/** Of every status, so that a page costs the same however many files are deleted. */
export const listFilesToCheck = statement((q, p: { after: string; take: number }) =>
  q.selectFrom("file").select(checkedColumns).where("id", ">", p.after).orderBy("id").limit(p.take),
);

const listKnownDamage = statement((q, p: { idsJson: string }, dialect) =>
  q
    .selectFrom("file_damage")
    .select("file_id")
    .where(isOneOf(dialect, "file_id", p.idsJson)),
);

const noteDamage = statement((q, p: { fileId: string; reason: DamageReason; now: number }) =>
  q
    .insertInto("file_damage")
    .values({ file_id: p.fileId, reason: p.reason, found_at: p.now })
    .onConflict((conflict) => conflict.column("file_id").doUpdateSet({ reason: p.reason, found_at: p.now })),
);

const forgetDamage = statement((q, p: { fileId: string }) =>
  q.deleteFrom("file_damage").where("file_id", "=", p.fileId),
);

/** Findings of the last walks, without files deleted since. */
// bounded: damaged files alone
export const countDamagedFiles = statement((q, _: object) =>
  q
    .selectFrom("file_damage")
    .innerJoin("file", "file.id", "file_damage.file_id")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where(sql<boolean>`(file.status = 'UPLOADED' or file.purge_at is not null)`),
);

/** Findings that no later walk has found again: the files are intact by now, or deleted. */
export const forgetDamageBefore = statement((q, p: { before: number }) =>
  q.deleteFrom("file_damage").where("found_at", "<", p.before),
);

export interface FilesPage {
  checked: number;
  damaged: number;
  unchecked: number;
  acceptedEtags: number;
  /** Null after the last page. */
  next: string | null;
}

interface CheckFilesOptions {
  /** How many files are read to the end, from 0 to 1. */
  share: number;
  /** Record the bucket's ETag where only that is different. */
  acceptEtags: boolean;
  onFinding: OnFinding;
  signal: AbortSignal;
}

/** Compares the next files with their objects. */
export async function checkFiles(
  deps: CheckFilesDeps,
  after: string,
  { share, acceptEtags, onFinding, signal }: CheckFilesOptions,
): Promise<FilesPage> {
  const rows = await deps.db.all(listFilesToCheck, { after, take: pageSize });
  const files = rows.filter(keepsBytes);
  const known = new Set(
    (await deps.db.all(listKnownDamage, { idsJson: JSON.stringify(files.map(({ id }) => id)) })).map(
      (row) => row.file_id,
    ),
  );
  const page: FilesPage = {
    checked: files.length,
    damaged: 0,
    unchecked: 0,
    acceptedEtags: 0,
    next: rows.length < pageSize ? null : (rows.at(-1)?.id ?? null),
  };
  const checkOne = async (file: CheckedFile) => {
    const { id: fileId, key, store } = file;
    const wasDamaged = known.has(fileId);
    // Damage found by reading the bytes can only be cleared by reading them.
    const options = { readsBytes: wasDamaged || Math.random() < share, signal };
    const reason = await findDamage(deps, file, options);
    if (reason === "wrong-etag" && acceptEtags && (await acceptEtag(deps, file, options)))
      page.acceptedEtags++;
    else if (reason !== null) {
      page.damaged++;
      onFinding({ kind: "damaged-file", fileId, key, store, reason });
      return deps.db.run(noteDamage, { fileId, reason, now: deps.now() });
    }
    return wasDamaged ? deps.db.run(forgetDamage, { fileId }) : 0;
  };
  const waiting = files.values();
  const work = async () => {
    for (const file of waiting) {
      signal.throwIfAborted();
      await checkOne(file).catch((error: unknown) => {
        const { id: fileId, key, store } = file;
        // Without its own store nothing can be checked, but a customer's bucket must not hold up the others.
        if (!(error instanceof StorageUnavailable) || store === deps.store.name) throw error;
        page.unchecked++;
        onFinding({ kind: "unchecked-file", fileId, key, store, reason: error.message });
      });
    }
  };
  // Waits for all, so that nothing continues in the background.
  for (const outcome of await Promise.allSettled(
    Array.from({ length: share > 0 ? readersAtOnce : concurrency }, work),
  ))
    if (outcome.status === "rejected") throw outcome.reason;
  return page;
}

/** Null too if the file was deleted meanwhile. */
async function findDamage(
  deps: CheckFilesDeps,
  file: CheckedFile,
  options: InspectOptions,
): Promise<DamageReason | null> {
  const store = await deps.stores.get(file.store);
  const { size_bytes: sizeBytes, sha256 } = file;
  let reason: DamageReason | null = null;
  const reading = { fileId: file.id, object: objectOfFile(file), isPublicRead: false };
  const { isDamaged } = await lookWhereItIs(deps, reading, async ({ storeKey, storeEtag: etag }) => {
    reason = await store.inspect(storeKey, { sizeBytes, etag, sha256 }, options);
    return reason === null ? "intact" : null;
  });
  return isDamaged ? reason : null;
}

/** Only if the place and ETag are still the checked ones. */
const recordEtag = statement((q, p: { id: string; storedApart: number; before: string; etag: string }) =>
  q
    .updateTable("file")
    .set({ store_etag: p.etag })
    .where("id", "=", p.id)
    .where(sql<boolean>`(status = 'UPLOADED' or purge_at is not null)`)
    .where("stored_apart", "=", p.storedApart)
    .where(sql<boolean>`coalesce(store_etag, etag) = ${p.before}`),
);

/** False if more than the ETag is different. Without a SHA-256, the size is all there is to compare. */
async function acceptEtag(
  deps: CheckFilesDeps,
  file: CheckedFile,
  options: InspectOptions,
): Promise<boolean> {
  const store = await deps.stores.get(file.store);
  const { storeKey, storeEtag: before = "" } = objectOfFile(file);
  const { size_bytes: sizeBytes, sha256 } = file;
  const etag = (await store.head(storeKey))?.etag;
  if (etag === undefined) return false;
  const readsBytes = options.readsBytes || sha256 !== null;
  if ((await store.inspect(storeKey, { sizeBytes, etag, sha256 }, { ...options, readsBytes })) !== null)
    return false;
  return (await deps.db.run(recordEtag, { id: file.id, storedApart: file.stored_apart, before, etag })) === 1;
}

/** A problem found by a walk. */
export type Finding =
  /** The bytes of a confirmed file are not there or not the confirmed ones. Only a restore or a new upload can help. */
  | { kind: "damaged-file"; fileId: string; key: string; store: string; reason: DamageReason }
  /** A customer's bucket that holds the file does not respond, or the installation has no such store. */
  | { kind: "unchecked-file"; fileId: string; key: string; store: string; reason: string }
  /** No file or image variant refers to it. */
  | { kind: "orphaned-object"; key: string }
  /** The same, of a project that this database has never had. Never removed. */
  | { kind: "foreign-object"; key: string }
  | ({ kind: "wrong-counter" } & CounterScope & CounterDrift);

export type OnFinding = (finding: Finding) => void;
