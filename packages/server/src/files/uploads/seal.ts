import type { CompleteMultipartBody } from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import type {
  AppendTarget,
  FinishMultipartResult,
  ObjectStore,
  StoredObject,
} from "../../storage/object-store.ts";
import { objectKey } from "../../storage/storage-key.ts";

/** Finalises the bytes, or reports that they already are, or why they cannot be. */
export interface Seal {
  within(tx: Queryable): Promise<Sealed>;
  /** Outside any transaction, for bytes that are inspected before the file is confirmed. */
  first(): Promise<Sealed>;
}
export type Sealed = FinishMultipartResult | typeof notArrived;

export const notArrived = {
  ok: false,
  problem: "not-arrived",
  message: "The file has not arrived in storage.",
} as const;

/** A bucket finalises the bytes before the transaction, which must not wait for it; our own disk does so within. */
export async function sealPut(deps: Deps, file: FileRow): Promise<Seal> {
  const store = await deps.stores.get(file.store);
  const key = objectKey(file);
  const { withinTransaction } = store;
  if (withinTransaction !== undefined)
    return {
      within: (tx) => withinTransaction.finishPut(tx, key).then(toSealed),
      first: () => store.finishPut(key, file.size_bytes).then(toSealed),
    };
  return alreadySealed(toSealed(await store.finishPut(key, file.size_bytes)));
}

const alreadySealed = (sealed: Sealed): Seal => ({
  within: async () => sealed,
  first: async () => sealed,
});

/** Looking at the bytes may have changed them, and their ETag. */
export const sealAfter = (looked: { sealed: Sealed } | null, seal: Seal): Seal =>
  looked === null ? seal : alreadySealed(looked.sealed);

const toSealed = (object: StoredObject | null): Sealed =>
  object === null ? notArrived : { ok: true, object };

export async function sealParts(
  deps: Deps,
  file: FileRow,
  body: Pick<CompleteMultipartBody, "uploadId" | "parts">,
): Promise<Seal> {
  const store = await deps.stores.get(file.store);
  const { withinTransaction } = store;
  const { uploadId, parts } = body;
  const upload = { key: objectKey(file), uploadId, sizeBytes: file.size_bytes, parts };
  if (withinTransaction !== undefined)
    return {
      within: (tx) => withinTransaction.finishMultipart(tx, upload),
      first: () => store.finishMultipart(upload),
    };
  return alreadySealed(await store.finishMultipart(upload));
}

/** Bytes that an earlier attempt has finalised. */
export async function sealAssembled(deps: Deps, file: FileRow): Promise<Seal> {
  const store = await deps.stores.get(file.store);
  return alreadySealed(toSealed(await store.head(objectKey(file))));
}

export const sealAppended = async ({ appends }: ObjectStore, target: AppendTarget): Promise<Seal> =>
  alreadySealed(await appends.finish(target));

/** Buckets assemble no upload without parts. */
export async function sealNothing(store: ObjectStore, target: AppendTarget): Promise<Seal> {
  await store.abortMultipart(target);
  const { contentType } = target;
  const object = await store.write(target.key, new Uint8Array(), { contentType });
  return alreadySealed({ ok: true, object });
}
