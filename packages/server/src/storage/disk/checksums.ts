import { hash } from "node:crypto";
import { performance } from "node:perf_hooks";
import { type ChecksumWorker, startChecksumWorker } from "./checksum-worker.ts";

/** SHA-256 of small bodies: here, or where that takes long and there are many, on a thread of its own. */
export interface Checksums {
  /** To be read as late as can be: a thread may be at it meanwhile. */
  ofBody(bytes: Buffer): () => string;
  close(): Promise<void>;
}

export interface ChecksumOptions {
  largestBodyBytes: number;
  /** Whether a thread would be of use on this machine. */
  isSlow?: () => boolean;
  /** So many bytes within a second are worth a thread, which costs some 15 MB of memory. */
  loadBytes?: number;
  now?: () => number;
  startWorker?: typeof startChecksumWorker;
}

const defaultLoadBytes = 2 * 1024 * 1024;
const loadWithinMs = 1000;

export function createChecksums({
  largestBodyBytes,
  isSlow = isHashingSlow,
  loadBytes = defaultLoadBytes,
  now = () => performance.now(),
  startWorker = startChecksumWorker,
}: ChecksumOptions): Checksums {
  let worker: ChecksumWorker | null = null;
  let canHaveWorker = true;
  let countedBytes = 0;
  let countedSince = now();

  function doWithout(): null {
    canHaveWorker = false;
    return null;
  }

  function tryToStart(): ChecksumWorker | null {
    try {
      return startWorker(largestBodyBytes, () => {
        worker = doWithout();
      });
    } catch {
      // No more threads are to be had, or allowed.
      return doWithout();
    }
  }

  function findWorker(sizeBytes: number): ChecksumWorker | null {
    if (worker !== null || !canHaveWorker) return worker;
    if (now() - countedSince >= loadWithinMs) {
      countedBytes = 0;
      countedSince = now();
    }
    countedBytes += sizeBytes;
    if (countedBytes >= loadBytes) worker = isSlow() ? tryToStart() : doWithout();
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
    async close() {
      canHaveWorker = false;
      await worker?.close();
    },
  };
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
