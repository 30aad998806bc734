import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { ObjectStore } from "../../../src/storage/object-store.ts";
import { put, readAll } from "./contract-client.ts";

/** Where adapters may differ, because what stands behind them does. */
export interface StoreTraits {
  /** What a PUT to a URL that is still valid answers once its upload has ended. Its bytes are never served. */
  latePut: { afterFinish: number; afterDelete: number; partAfterEnd: number };
  /** The least size of every part but the last. */
  minPartBytes: number;
  /** Whether a part that is too large is refused when it arrives, and not only at the end. */
  capsParts: boolean;
  /** What a PUT without a length answers; 411 unless said. */
  withoutLength?: number;
  /** Goes on taking parts for an upload that is finished. They may make the object unreadable, never other bytes. */
  keepsFinishedUploads?: true;
  /** Cannot finish an upload without every part that it has received. */
  needsEveryPart?: true;
}

export const contentType = "application/x-contract";
let lastKey = 0;
export const newKey = (name = "file.bin") => `contract/${process.pid}/${++lastKey}/${name}`;

/** The store that the contract is held against, with the steps that its tests share. */
export function createContractSubject(getStore: () => ObjectStore, traits: StoreTraits) {
  const subject = {
    traits,
    /** There once the suite has begun: opening a store takes time. */
    get store() {
      return getStore();
    },
  };

  const presign = (key: string, sizeBytes: number, expiresInSec = 60) =>
    subject.store.presignPut({ key, contentType, sizeBytes, expiresInSec });
  const stage = async (key: string, body: Uint8Array) => {
    const url = await presign(key, body.length);
    assert.equal((await put(url, body, { "content-type": contentType })).status, 200);
    return url;
  };
  const assertReads = async (key: string, bytes: Uint8Array) => {
    assert.deepEqual(await readAll(subject.store, key), Buffer.from(bytes));
    assert.equal((await subject.store.head(key))?.sizeBytes, bytes.length);
  };
  const assertNothing = async (key: string) => {
    assert.equal(await subject.store.findReceived(key), null);
    assert.equal(await subject.store.finishPut(key, 3), null);
    assert.equal(await subject.store.read(key), null);
  };

  /** An upload of parts, each the least size plus `extraBytes`, all but the last sent in the order given. */
  async function startUpload(extraBytes: number[], order = extraBytes.map((_, index) => index)) {
    const key = newKey("multipart");
    const bodies = extraBytes.map((extra, index) =>
      randomBytes(index === extraBytes.length - 1 ? extra : traits.minPartBytes + extra),
    );
    const sizeBytes = bodies.reduce((sum, body) => sum + body.length, 0);
    const uploadId = await subject.store.startMultipart({ key, contentType, sizeBytes });
    const partNumbers = bodies.map((_, index) => index + 1);
    const urls = await subject.store.presignParts({
      key,
      uploadId,
      sizeBytes,
      partNumbers,
      expiresInSec: 60,
    });
    const parts: { partNumber: number; etag: string }[] = [];
    for (const index of order) {
      const { status, etag } = await put(urls[index] ?? "", bodies[index] ?? "");
      assert.equal(status, 200);
      parts.push({ partNumber: index + 1, etag });
    }
    parts.sort((a, b) => a.partNumber - b.partNumber);
    const finish = (claimed = parts, size = sizeBytes) =>
      subject.store.finishMultipart({ key, uploadId, sizeBytes: size, parts: claimed });
    return { key, uploadId, urls, bodies, parts, sizeBytes, whole: Buffer.concat(bodies), finish };
  }

  return Object.assign(subject, { presign, stage, assertReads, assertNothing, startUpload });
}

export type ContractSubject = ReturnType<typeof createContractSubject>;
