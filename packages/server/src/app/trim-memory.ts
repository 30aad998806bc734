import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

type CollectGarbage = (options: {
  type: "major";
  execution: "async";
  flavor: "last-resort";
}) => Promise<void>;

/**
 * Releases memory that only startup needed: compiling a few hundred modules leaves about 30 MB of garbage, which V8
 * keeps until there is pressure, and an idle service has none. An idle service uses 102 MiB with this, 123 MiB without.
 */
export function trimMemorySoon(): void {
  setTimeout(() => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as CollectGarbage;
    void collect({ type: "major", execution: "async", flavor: "last-resort" });
  }, 1000).unref();
}
