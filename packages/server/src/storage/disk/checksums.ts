import { hash } from "node:crypto";
import { performance } from "node:perf_hooks";
import { Worker } from "node:worker_threads";

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

/** A thread that computes SHA-256. */
export interface ChecksumWorker {
  /** Hands over a body; null where it has too much to do. */
  post(bytes: Buffer): Ticket | null;
  close(): Promise<void>;
}

export interface Ticket {
  /** The digest; null where the thread is not done with it: what it has not begun, it then leaves alone. */
  take(): string | null;
}

const slotCount = 128;
const digestBytes = 32;
/** What a slot of the ring can be. */
export const slot = { done: 0, ready: 1, busy: 2, takenBack: 3 };
/** Turns are counted up to here, then from 0 again; every start comes by there, so that it is nothing special. */
const lastTurn = 2 ** 30 - 1;
const firstTurn = lastTurn - 50;
const none = -1;
/** A body takes a tenth of that. Who waits longer does it themselves. */
const longestWaitMs = 0.5;

const threadFile = new URL("./checksum-thread.mjs", import.meta.url);

/**
 * Bodies of up to `slotBytes` go through a ring in shared memory, and whoever needs a digest takes it from there at
 * once: a message would arrive a turn of the event loop later, and the body would miss a commit. Throws where no thread
 * is to be had.
 */
export function startChecksumWorker(slotBytes: number, onEnd: () => void): ChecksumWorker {
  const share = (byteCount: number) => new SharedArrayBuffer(byteCount);
  /** The turn that is next to be posted. */
  const posted = new Int32Array(share(4)).fill(firstTurn);
  const states = new Int32Array(share(4 * slotCount));
  const lengths = new Int32Array(share(4 * slotCount));
  const bytes = Buffer.from(share(slotBytes * slotCount));
  const digests = Buffer.from(share(digestBytes * slotCount));
  /** Which turn a slot's digest is of. */
  const turns = new Int32Array(slotCount).fill(none);
  let turn = firstTurn;

  const worker = new Worker(threadFile, {
    workerData: { posted, states, lengths, bytes, digests, slotBytes, slot, firstTurn, lastTurn },
    // Not those of the process: some of its flags are not for threads.
    execArgv: [],
    env: {},
  });
  worker.on("error", () => {});
  worker.on("exit", onEnd);
  // Last: listening would hold the process again.
  worker.unref();

  function takeDigest(position: number): string | null {
    if (Atomics.compareExchange(states, position, slot.ready, slot.takenBack) === slot.ready) {
      turns[position] = none;
      return null;
    }
    if (Atomics.load(states, position) === slot.busy)
      Atomics.wait(states, position, slot.busy, longestWaitMs);
    if (Atomics.load(states, position) !== slot.done) return null;
    return digests.toString("hex", position * digestBytes, (position + 1) * digestBytes);
  }

  return {
    post(body) {
      const own = turn;
      const position = own % slotCount;
      if (Atomics.load(states, position) !== slot.done) return null;
      turns[position] = own;
      bytes.set(body, position * slotBytes);
      lengths[position] = body.length;
      Atomics.store(states, position, slot.ready);
      turn = (own + 1) & lastTurn;
      Atomics.store(posted, 0, turn);
      Atomics.notify(posted, 0);
      return { take: () => (turns[position] === own ? takeDigest(position) : null) };
    },
    close: async () => void (await worker.terminate()),
  };
}
