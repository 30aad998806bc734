// Not TypeScript: the thread would load a compiler of its own for these lines.
import { createHash, hash } from "node:crypto";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";

const { signals, states, lengths, bytes, digests, slotBytes, signal, slot, firstTurn, lastTurn } = workerData;
const streams = new Map();
let next = firstTurn;

/** In the order of the ring; those that the caller has taken back are passed over. */
function hashBodies() {
  while (next !== Atomics.load(signals, signal.posted)) {
    const position = next % states.length;
    if (Atomics.compareExchange(states, position, slot.ready, slot.busy) === slot.ready) {
      const start = position * slotBytes;
      const digest = hash("sha256", bytes.subarray(start, start + lengths[position]), "buffer");
      digests.set(digest, position * digest.length);
    }
    Atomics.store(states, position, slot.done);
    Atomics.notify(states, position);
    next = (next + 1) & lastTurn;
  }
}

function takeMessage({ stream, chunks, isLast }) {
  const digest = streams.get(stream) ?? createHash("sha256");
  if (chunks === null) {
    streams.delete(stream);
    if (isLast) parentPort.postMessage({ stream, sha256: digest.digest("hex") });
    return;
  }
  streams.set(stream, digest);
  for (const chunk of chunks) {
    digest.update(chunk);
    chunk.buffer.transfer(0);
  }
  parentPort.postMessage({ stream, sha256: "" });
}

for (;;) {
  const seen = Atomics.load(signals, signal.calls);
  hashBodies();
  const received = receiveMessageOnPort(parentPort);
  if (received === undefined) Atomics.wait(signals, signal.calls, seen);
  else takeMessage(received.message);
}
