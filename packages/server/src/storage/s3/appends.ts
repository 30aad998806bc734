import { BUCKET_APPENDS_MAX } from "@upstow/contract";
import { randomText } from "../../kernel/ids.ts";
import {
  type Appends,
  type AppendTarget,
  type ClaimedPart,
  type ObjectStore,
  type Progress,
  StorageUnavailable,
} from "../object-store.ts";
import type { MultipartDeps } from "./multipart.ts";

/** Equal parts, as some stores require. Larger ones where thousands would make each record of them long. */
const partBytesFor = (sizeBytes: number) => (sizeBytes <= 2560 * 1024 ** 2 ? 5 : 16) * 1024 ** 2;

/** Parts in the bucket, and the bytes after them as a separate object until they fill a part. */
interface State {
  partBytes: number;
  etags: string[];
  /** Part of the name of the object with the bytes behind the parts. */
  tail: string;
}

const write = ({ partBytes, etags, tail }: State): string => [partBytes, tail, ...etags].join(" ");

function read(state: string): State {
  const [partBytes, tail = "", ...etags] = state.split(" ");
  return { partBytes: Number(partBytes), etags, tail };
}

/** The last part may be smaller than the others, and nothing follows it. */
const tailBytesOf = ({ partBytes, etags, tail }: State, offset: number) =>
  tail === "" ? 0 : offset - partBytes * etags.length;

/**
 * Only bytes in the bucket are ever saved. Each tail has its own name, so that a request that has been taken over can't
 * replace one that counts. A part that it still sends has the same number and, from the same client, the same
 * bytes; different ones show as a wrong ETag when the upload is finished.
 */
export function createBucketAppends(
  { client, names, headersOf }: MultipartDeps,
  { finishMultipart }: Pick<ObjectStore, "finishMultipart">,
): Appends {
  let running = 0;
  const refOf = ({ key, uploadId }: AppendTarget) => ({ key: names.finalOf(key), uploadId });
  const tailName = (key: string, tail: string) => names.stagedOf(`${key} ${tail}`);

  async function readTail(key: string, tail: string, sizeBytes: number): Promise<Buffer> {
    const { stream } = await client.objects.get(tailName(key, tail), {
      range: { start: 0, end: sizeBytes - 1 },
    });
    const chunks: Buffer[] = [];
    let received = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      received += chunk.length;
      // A hostile bucket may send without end.
      if (received > sizeBytes) break;
      chunks.push(chunk);
    }
    if (received === sizeBytes) return Buffer.concat(chunks);
    throw new StorageUnavailable("the bucket did not send what was staged");
  }

  async function removeTail(key: string, { tail }: State): Promise<void> {
    // What is left over is swept.
    if (tail !== "") await client.objects.remove(tailName(key, tail)).catch(() => {});
  }

  async function append(...[upload, source, save]: Parameters<Appends["append"]>): Promise<void> {
    const { chunks, isLast, verify } = source;
    const target = { ...upload };
    let state = read(upload.state);
    let pending: Buffer[] = [];
    let pendingBytes = 0;
    let isNew = false;
    /** With a checksum everything is saved at the end. */
    let unsaved: Progress | null = null;

    async function commit(next: State, offset: number): Promise<void> {
      const before = state;
      state = next;
      target.offset = offset;
      unsaved = { offset, state: write(next) };
      if (verify !== undefined) return;
      await save(unsaved);
      unsaved = null;
      if (before.tail !== next.tail) await removeTail(target.key, before);
    }

    async function sendPart(bytes: Buffer): Promise<void> {
      const partNumber = state.etags.length + 1;
      const { etag } = await client.multipart.putPart({ ...refOf(target), partNumber, bytes });
      const offset = state.partBytes * state.etags.length + bytes.length;
      await commit({ ...state, etags: [...state.etags, etag], tail: "" }, offset);
    }

    for await (const chunk of chunks) {
      if (!isNew && state.tail !== "") {
        const tail = await readTail(target.key, state.tail, tailBytesOf(state, target.offset));
        pending.push(tail);
        pendingBytes = tail.length;
      }
      isNew = true;
      pending.push(chunk);
      pendingBytes += chunk.length;
      while (pendingBytes > state.partBytes) {
        const bytes = Buffer.concat(pending);
        pending = [Buffer.from(bytes.subarray(state.partBytes))];
        pendingBytes -= state.partBytes;
        await sendPart(bytes.subarray(0, state.partBytes));
      }
    }
    verify?.();
    const rest = Buffer.concat(pending);
    if (isNew && (isLast() || rest.length === state.partBytes)) await sendPart(rest);
    else if (isNew) {
      const tail = randomText(16);
      await client.objects.put(tailName(target.key, tail), rest, headersOf(target.contentType));
      await commit({ ...state, tail }, state.partBytes * state.etags.length + rest.length);
    }
    if (unsaved !== null) {
      await save(unsaved);
      if (state.tail !== read(upload.state).tail) await removeTail(target.key, read(upload.state));
    }
  }

  async function listParts(upload: AppendTarget): Promise<ClaimedPart[]> {
    const { etags, tail, partBytes } = read(upload.state);
    const parts = etags.map((etag, index) => ({ partNumber: index + 1, etag }));
    if (tail === "") return parts;
    // The length became known only after the last append.
    const sizeBytes = upload.offset - partBytes * etags.length;
    const bytes = await readTail(upload.key, tail, sizeBytes);
    const partNumber = parts.length + 1;
    const { etag } = await client.multipart.putPart({ ...refOf(upload), partNumber, bytes });
    return [...parts, { partNumber, etag }];
  }

  return {
    needsNoLease: false,
    start: (sizeBytes) => write({ partBytes: partBytesFor(sizeBytes), etags: [], tail: "" }),

    async append(upload, source, save) {
      // Each holds a part in memory.
      if (running >= BUCKET_APPENDS_MAX)
        throw new StorageUnavailable("too many resumable uploads are being sent to buckets at the same time");
      running++;
      try {
        await append(upload, source, save);
      } finally {
        running--;
      }
    },

    finish: async (upload) =>
      finishMultipart({
        key: upload.key,
        uploadId: upload.uploadId,
        sizeBytes: upload.offset,
        parts: await listParts(upload),
      }),

    discard: async (upload) => removeTail(upload.key, read(upload.state)),
  };
}
