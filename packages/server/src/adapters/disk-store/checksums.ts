import { createHash, hash } from "node:crypto";
import { performance } from "node:perf_hooks";
import { type ChecksumWorker, startChecksumWorker } from "./checksum-worker.ts";

/** SHA-256 of bodies: here, or where that takes long and there are many, on a thread of its own. */
export interface Checksums {
  /** Of a body that is all there. To be read as late as can be: a thread may be at it meanwhile. */
  ofBody(bytes: Buffer): () => string;
  /** Of a body that comes in chunks; whether they are its own, so that their memory can be freed or handed on. */
  ofStream(sizeBytes: number, isOwned: boolean): StreamChecksum;
  close(): Promise<void>;
}

export interface StreamChecksum {
  onArrived(chunk: Buffer): void;
  /** Nothing reads them here after that. Resolves when a thread is done with them; null where there is none. */
  onWritten(chunks: Buffer[]): Promise<void> | null;
  digest(): Promise<string>;
  /** To be called where no digest will be asked for. */
  abandon(): void;
}

export interface ChecksumOptions {
  largestBodyBytes: number;
  /** Whether a thread would be of use on this machine. */
  isSlow?: () => boolean;
  /** So many bytes within a second are worth a thread, which costs some 15 MB of memory. */
  loadBytes?: number;
  now?: () => number;
}

const defaultLoadBytes = 2 * 1024 * 1024;
const loadWithinMs = 1000;

export function createChecksums({
  largestBodyBytes,
  isSlow = isHashingSlow,
  loadBytes = defaultLoadBytes,
  now = () => performance.now(),
}: ChecksumOptions): Checksums {
  let worker: ChecksumWorker | null = null;
  let canHaveWorker = true;
  let countedBytes = 0;
  let countedSince = now();

  function startWorker(): ChecksumWorker | null {
    try {
      return startChecksumWorker(largestBodyBytes, () => {
        worker = null;
        canHaveWorker = false;
      });
    } catch {
      canHaveWorker = false;
      return null;
    }
  }

  function findWorker(sizeBytes: number): ChecksumWorker | null {
    if (worker !== null || !canHaveWorker) return worker;
    if (now() - countedSince >= loadWithinMs) {
      countedBytes = 0;
      countedSince = now();
    }
    countedBytes += sizeBytes;
    if (countedBytes < loadBytes) return null;
    canHaveWorker = isSlow();
    if (canHaveWorker) worker = startWorker();
    return worker;
  }

  return {
    ofBody(bytes) {
      const ticket = findWorker(bytes.length)?.post(bytes);
      let digest: string | null = null;
      return () => {
        digest ??= ticket?.take() ?? hash("sha256", bytes);
        return digest;
      };
    },
    ofStream(sizeBytes, isOwned) {
      const found = isOwned ? findWorker(sizeBytes) : null;
      return found === null ? hashHere(isOwned) : hashThere(found);
    },
    async close() {
      canHaveWorker = false;
      await worker?.close();
    },
  };
}

function hashHere(isOwned: boolean): StreamChecksum {
  const digest = createHash("sha256");
  return {
    onArrived: (chunk) => void digest.update(chunk),
    onWritten(chunks) {
      if (isOwned) chunks.forEach(freeMemory);
      return null;
    },
    digest: async () => digest.digest("hex"),
    abandon() {},
  };
}

function hashThere(worker: ChecksumWorker): StreamChecksum {
  const stream = worker.openStream();
  let isAbandoned = false;
  return {
    onArrived() {},
    // The last write of a body that was cut off may end after it was given up.
    onWritten: (chunks) => (isAbandoned ? null : stream.update(chunks)),
    digest: stream.digest,
    abandon() {
      isAbandoned = true;
      stream.abandon();
    },
  };
}

/** At once, and not when the garbage collector gets to it: finding these chunks would cost it a quarter of an upload. */
function freeMemory(chunk: Buffer): void {
  const { buffer } = chunk;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === chunk.length) buffer.transfer(0);
}

const probeBytes = 64 * 1024;
/** With instructions for SHA-256 it takes 40 µs or less, without them 150 or more. */
const slowMs = 0.09;

function isHashingSlow(): boolean {
  const probe = Buffer.alloc(probeBytes);
  const takenMs = Array.from({ length: 5 }, () => {
    const start = performance.now();
    hash("sha256", probe);
    return performance.now() - start;
  });
  return Math.min(...takenMs) > slowMs;
}
