import { Worker } from "node:worker_threads";

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
