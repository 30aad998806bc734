import { finished } from "node:stream/promises";
import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import type { ObjectStream } from "../../storage/object-store.ts";
import { objectKey } from "../../storage/storage-key.ts";
import { objectOfFile, readObject } from "../stored-bytes.ts";
import { findOwner } from "./queries.ts";
import type { GetMemory } from "./render/frame-channel.ts";
import type { SourceRequest } from "./render/render-pool.ts";

export type SourceFile = Pick<
  FileRow,
  | "id"
  | "key"
  | "access"
  | "stored_apart"
  | "size_bytes"
  | "store"
  | "project_id"
  | "etag"
  | "store_etag"
  | "sha256"
  | "upload_id"
  | "focus"
>;

export async function ownerOf(
  { db }: Pick<Deps, "db">,
  { project_id: projectId }: SourceFile,
): Promise<string> {
  return (await db.get(findOwner, { projectId }))?.account_id ?? projectId;
}

/** How a renderer gets at a file, in the turn of its account. */
export async function toSource(deps: Deps, file: SourceFile): Promise<SourceRequest> {
  return {
    account: await ownerOf(deps, file),
    findSourceFile: async () => (await deps.store.localFiles?.findFile(objectKey(file))) ?? null,
    readSource: (getMemory) => readSource(deps, file, getMemory),
  };
}

async function readSource(deps: Deps, file: SourceFile, getMemory: GetMemory): Promise<Buffer> {
  const reading = { fileId: file.id, object: objectOfFile(file), isPublicRead: file.access === "public" };
  const source = await readObject(deps, reading, deps.store);
  return Buffer.isBuffer(source) ? source : collect(source, getMemory(file.size_bytes));
}

/** Directly into place: with stream/consumers, each image would cost 50% more outside its worker. */
async function collect(source: ObjectStream, memory: Buffer): Promise<Buffer> {
  let sizeBytes = 0;
  source.on("data", (chunk: Buffer) => {
    if (sizeBytes + chunk.length > memory.length) source.destroy(new Error("longer than recorded"));
    chunk.copy(memory, sizeBytes);
    sizeBytes += chunk.length;
    source.recycle?.(chunk);
  });
  await finished(source);
  return memory.subarray(0, sizeBytes);
}
