import { Worker } from "node:worker_threads";
import { StorageUnavailable } from "../../ports/object-store.ts";

/** A thread that computes SHA-256. */
export interface ChecksumWorker {
  /** Hands over a whole body; null where it has too much to do. */
  post(bytes: Buffer): Ticket | null;
  openStream(): StreamDigest;
  close(): Promise<void>;
}

export interface Ticket {
  /** The digest; null where the thread has not come to it, and then it will not. */
  take(): string | null;
}

export interface StreamDigest {
  /** Hands over chunks, which nobody can read here any more. Resolves when the thread is done with them. */
  update(chunks: Buffer[]): Promise<void>;
  digest(): Promise<string>;
  abandon(): void;
}

const slotCount = 128;
const digestBytes = 32;
const slot = { done: 0, ready: 1, busy: 2, takenBack: 3 };
const signal = { calls: 0, posted: 1 };
/** Turns are counted up to here, then from 0 again; every start comes by there, so that it is nothing special. */
const lastTurn = 2 ** 30 - 1;
const firstTurn = lastTurn - 50;
const none = -1;
/** A body takes a tenth of that. Who waits longer does it themselves. */
const longestWaitMs = 0.5;

class ThreadGone extends StorageUnavailable {
  constructor() {
    super("the thread that computes checksums has ended");
  }
}

const threadFile = new URL("./checksum-thread.mjs", import.meta.url);

/**
 * Whole bodies of up to `slotBytes` go through a ring in shared memory, and whoever needs a digest takes it from there
 * at once: a message would arrive a turn of the event loop later, and the body would miss a commit. Chunks of larger
 * bodies are handed over by messages, without a copy. Throws where no thread is to be had.
 */
export function startChecksumWorker(slotBytes: number, onEnd: () => void): ChecksumWorker {
  const share = (byteCount: number) => new SharedArrayBuffer(byteCount);
  const signals = new Int32Array(share(8));
  const states = new Int32Array(share(4 * slotCount));
  const lengths = new Int32Array(share(4 * slotCount));
  const bytes = Buffer.from(share(slotBytes * slotCount));
  const digests = Buffer.from(share(digestBytes * slotCount));
  /** Which turn a slot's digest is of. */
  const turns = new Int32Array(slotCount).fill(none);
  let turn = firstTurn;
  let streams = 0;
  let hasEnded = false;
  const waiting = new Map<number, PromiseWithResolvers<string>>();

  signals[signal.posted] = firstTurn;
  const worker = new Worker(threadFile, {
    workerData: { signals, states, lengths, bytes, digests, slotBytes, signal, slot, firstTurn, lastTurn },
    // Not those of the process: some of its flags are not for threads.
    execArgv: [],
    env: {},
  });
  worker.on("message", ({ stream, sha256 }: { stream: number; sha256: string }) => {
    waiting.get(stream)?.resolve(sha256);
    waiting.delete(stream);
  });
  worker.on("error", () => {});
  worker.on("exit", () => {
    hasEnded = true;
    for (const { reject } of waiting.values()) reject(new ThreadGone());
    waiting.clear();
    onEnd();
  });
  // Last: listening would hold the process again.
  worker.unref();

  function call(): void {
    Atomics.add(signals, signal.calls, 1);
    Atomics.notify(signals, signal.calls);
  }

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
      turn = (turn + 1) & lastTurn;
      turns[position] = own;
      bytes.set(body, position * slotBytes);
      lengths[position] = body.length;
      Atomics.store(states, position, slot.ready);
      Atomics.store(signals, signal.posted, turn);
      call();
      return { take: () => (turns[position] === own ? takeDigest(position) : null) };
    },
    openStream() {
      const stream = streams++;
      const send = (message: object, transfer: ArrayBuffer[] = []) => {
        worker.postMessage({ stream, ...message }, transfer);
        call();
      };
      const ask = (message: object, transfer?: ArrayBuffer[]): Promise<string> => {
        if (hasEnded) return Promise.reject(new ThreadGone());
        const answer = Promise.withResolvers<string>();
        waiting.set(stream, answer);
        send(message, transfer);
        return answer.promise;
      };
      return {
        async update(chunks) {
          const owned = chunks.map(toOwned);
          await ask(
            { chunks: owned },
            owned.map(({ buffer }) => buffer),
          );
        },
        digest: () => ask({ chunks: null, isLast: true }),
        abandon: () => send({ chunks: null, isLast: false }),
      };
    },
    close: async () => void (await worker.terminate()),
  };
}

/** Memory that can be handed over: all of it is the chunk's. */
function toOwned(chunk: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer } = chunk;
  return buffer instanceof ArrayBuffer && buffer.byteLength === chunk.length
    ? new Uint8Array(buffer)
    : new Uint8Array(chunk);
}
