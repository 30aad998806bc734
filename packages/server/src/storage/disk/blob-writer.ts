import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { bodyCutOff } from "../../kernel/errors.ts";
import type { BlobFiles } from "./blob-files.ts";
import { createRowName } from "./blob-name.ts";
import { type BodyWriter, createBodyWriter, type RateWatch } from "./body-writer.ts";
import { explainDiskError } from "./damage.ts";
import type { Arrival, FreeSpace } from "./free-space.ts";
import type { SealedBlob } from "./object-records.ts";
import type { UploadTarget } from "./presigned-url.ts";
import { bodyTooSlow } from "./refusals.ts";

export interface BlobWriter {
  /** Turns a request's body into a blob. A body of any other length leaves nothing behind. */
  writeBody(request: IncomingMessage, arrival: Arrival, kind: UploadTarget["kind"]): Promise<SealedBlob>;
  writeBytes(bytes: Uint8Array, kind?: UploadTarget["kind"]): Promise<SealedBlob>;
  /** A blob whose size is known only once it is sealed. One that is expected to be small waits in memory. */
  open(options: { isOwned: boolean; expectedBytes: number }): Promise<OpenBlob>;
}

export interface OpenBlob extends Pick<BodyWriter, "push"> {
  /** Whether it is a whole object: parts are files, however small. */
  seal(isObject: boolean): Promise<SealedBlob>;
  discard(): Promise<void>;
}

interface Source {
  fill: (writer: Pick<BodyWriter, "push">) => Promise<void>;
  isOwned: boolean;
}

const largestBatch = 512 * 1024;
const smallestBatch = 64 * 1024;
/** For all bodies together; each uses up to two batches. */
const memoryBytes = 64 * 1024 * 1024;

export function createBlobWriter(
  files: BlobFiles,
  space: FreeSpace,
  rate: RateWatch,
  options: { now: () => number; largestRowBytes: number },
): BlobWriter {
  let active = 0;
  const batchBytes = () => Math.min(largestBatch, Math.max(smallestBatch, memoryBytes / (2 * active)));

  async function writeFile({ fill, isOwned }: Source, sizeBytes: number): Promise<SealedBlob> {
    active++;
    try {
      const temp = await files.openTemp();
      try {
        const writer = createBodyWriter(temp.file, { batchBytes, space, isOwned });
        await fill(writer);
        const content = await writer.finish();
        if (content.sizeBytes !== sizeBytes) throw bodyCutOff();
        return { blob: await files.seal(temp), ...content, rowBytes: null };
      } catch (error) {
        await files.discardTemp(temp);
        throw error;
      }
    } catch (error) {
      throw explainDiskError(error);
    } finally {
      active--;
    }
  }

  async function gatherRow({ fill }: Source, sizeBytes: number): Promise<SealedBlob> {
    const memory = createMemory(sizeBytes);
    await fill(memory);
    const rowBytes = memory.bytes();
    if (rowBytes.length !== sizeBytes) throw bodyCutOff();
    return rowOf(rowBytes);
  }

  const rowOf = (rowBytes: Buffer): SealedBlob => ({
    blob: createRowName(options.now()),
    sizeBytes: rowBytes.length,
    sha256: hash("sha256", rowBytes),
    rowBytes,
  });

  function openSmall(sizeBytes: number): OpenBlob {
    const memory = createMemory(sizeBytes);
    return {
      push: memory.push,
      async seal(isObject) {
        const bytes = memory.bytes();
        return isObject ? rowOf(bytes) : writeFile(sourceOf(bytes), bytes.length);
      },
      discard: async () => {},
    };
  }

  /** Parts are streamed one after another, which requires files. */
  const write = (source: Source, sizeBytes: number, kind: UploadTarget["kind"]) =>
    (kind === "single" && sizeBytes <= options.largestRowBytes ? gatherRow : writeFile)(source, sizeBytes);

  return {
    async open({ isOwned, expectedBytes }) {
      if (expectedBytes > 0 && expectedBytes <= options.largestRowBytes) return openSmall(expectedBytes);
      active++;
      const temp = await files.openTemp().catch((error: unknown) => {
        active--;
        throw explainDiskError(error);
      });
      const writer = createBodyWriter(temp.file, { batchBytes, space, isOwned });
      const discard = async () => {
        active--;
        await writer.finish().catch(() => {});
        await files.discardTemp(temp);
      };
      return {
        push: writer.push,
        discard,
        async seal() {
          try {
            const content = await writer.finish();
            const sealed = { blob: await files.seal(temp), ...content, rowBytes: null };
            active--;
            return sealed;
          } catch (error) {
            await discard();
            throw explainDiskError(error);
          }
        },
      };
    },
    writeBody(request, arrival, kind) {
      const { sizeBytes } = arrival;
      const body: Source = { fill: (writer) => receiveBody(request, writer, rate, arrival), isOwned: true };
      return write(body, sizeBytes, kind);
    },
    writeBytes(bytes, kind = "single") {
      return write(sourceOf(bytes), bytes.byteLength, kind);
    },
  };
}

function sourceOf({ buffer, byteOffset, byteLength }: Uint8Array): Source {
  const chunk = Buffer.from(buffer, byteOffset, byteLength);
  return {
    isOwned: false,
    async fill(writer) {
      await writer.push(chunk);
    },
  };
}

/** One copy, because a chunk of one byte can keep 64 KiB of a connection's buffer alive. */
function createMemory(sizeBytes: number) {
  const memory = Buffer.allocUnsafe(sizeBytes);
  let length = 0;
  return {
    push(chunk: Buffer): null {
      length += chunk.copy(memory, length);
      return null;
    },
    bytes: () => memory.subarray(0, length),
  };
}

/** Pipes the body into the writer at the disk's pace. Rejects unless all of it arrived. */
async function receiveBody(
  request: IncomingMessage,
  writer: Pick<BodyWriter, "push">,
  rate: RateWatch,
  arrival: Arrival,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();

  const onData = (chunk: Buffer): void => {
    arrival.receivedBytes += chunk.length;
    arrival.movedAt = performance.now();
    const room = writer.push(chunk);
    if (room === null) return;
    arrival.heldUp = true;
    request.pause();
    room.then(() => {
      arrival.heldUp = false;
      arrival.movedAt = performance.now();
      request.resume();
    }, reject);
  };
  const onEnd = (): void => {
    arrival.stop = null;
    resolve();
  };
  const onCutOff = (): void => {
    // A completed body also emits close.
    if (!request.complete || !request.readableEnded) reject(bodyCutOff());
  };

  const unwatch = rate.watch(arrival, () => reject(bodyTooSlow()));
  arrival.movedAt = performance.now();
  arrival.stop = reject;
  // The listeners stay: no more data follows, and a connection that breaks later must not crash the process.
  request.on("data", onData).on("end", onEnd).on("error", onCutOff).on("close", onCutOff);
  if (request.destroyed) onCutOff();
  try {
    await promise;
  } catch (error) {
    request.off("data", onData);
    arrival.stop = null;
    // Immediately, because the client may already be retrying while we clean up.
    arrival.leave();
    throw error;
  } finally {
    unwatch();
  }
}
