import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

interface Collection {
  type: "major";
  execution: "async";
  flavor: "regular" | "last-resort";
}

const startedMs = 1_000;
const lookEveryMs = 2_000;
/** Buffers that may pile up beyond what the last collection had to leave. */
const looseBytes = 96 * 1024 * 1024;

/**
 * Gives memory back that V8 would keep. At the start that is what only starting needed: compiling a few hundred modules
 * leaves some thirty megabytes of garbage. Later it is buffers: V8 sees their size only roughly, so that a busy machine
 * held 200 MB of those that nobody used any more.
 */
export function trimMemory(): void {
  setTimeout(() => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as (options: Collection) => Promise<void>;
    void collect({ type: "major", execution: "async", flavor: "last-resort" });
    collectWhenLoose(() => void collect({ type: "major", execution: "async", flavor: "regular" }));
  }, startedMs).unref();
}

function collectWhenLoose(collect: () => void): void {
  let neededBytes = 0;
  let hasCollected = false;
  const look = () => {
    const { arrayBuffers } = process.memoryUsage();
    // What a collection frees is given back a moment after it.
    if (hasCollected) neededBytes = arrayBuffers;
    hasCollected = arrayBuffers > neededBytes + looseBytes;
    if (hasCollected) collect();
  };
  setInterval(look, lookEveryMs).unref();
}
