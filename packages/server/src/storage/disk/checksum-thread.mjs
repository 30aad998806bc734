// Not TypeScript: the thread would load a compiler of its own for these lines.
import { hash } from "node:crypto";
import { workerData } from "node:worker_threads";

const { posted, states, lengths, bytes, digests, slotBytes, slot, firstTurn, lastTurn } = workerData;

function hashBody(position) {
  if (Atomics.compareExchange(states, position, slot.ready, slot.busy) !== slot.ready) {
    Atomics.compareExchange(states, position, slot.takenBack, slot.done);
    return;
  }
  const start = position * slotBytes;
  const digest = hash("sha256", bytes.subarray(start, start + lengths[position]), "buffer");
  digests.set(digest, position * digest.length);
  Atomics.store(states, position, slot.done);
  Atomics.notify(states, position);
}

for (let turn = firstTurn; ; turn = (turn + 1) & lastTurn) {
  // Again: what woke it can be the call for a body that it had seen already.
  while (Atomics.load(posted, 0) === turn) Atomics.wait(posted, 0, turn);
  hashBody(turn % states.length);
}
