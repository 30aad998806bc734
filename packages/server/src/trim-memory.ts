import { createHook } from "node:async_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

type CollectGarbage = (options: {
  type: "major";
  execution: "async";
  flavor: "last-resort";
}) => Promise<void>;

/**
 * Gives back what only starting needed: compiling a few hundred modules leaves some thirty megabytes of garbage
 * that V8 would keep until there is pressure, and an idle service has none.
 */
export function trimMemorySoon(): void {
  keepShapeOfTicks();
  keepShapesWhileIdle();
  setTimeout(() => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as CollectGarbage;
    void collect({ type: "major", execution: "async", flavor: "last-resort" });
  }, 1000).unref();
}

const kept: object[] = [];

/**
 * V8 forgets a shape that no living object has when it collects garbage to save memory, and code that was compiled for
 * it stays slow from then on: every process.nextTick would take a microsecond more, of which a request makes about ten.
 * An object of that shape is only ever handed to a hook.
 */
function keepShapeOfTicks(): void {
  const hook = createHook({
    init(_id, type, _trigger, resource) {
      if (type === "TickObject") kept.push(resource);
    },
  }).enable();
  process.nextTick(() => {});
  hook.disable();
}

/**
 * By itself V8 saves memory whenever there is nothing to do for some seconds, and so forgets the shapes of requests,
 * promises and rows; the next thousand uploads are slow until their code is compiled again. Garbage is still collected
 * then, but after a heavy load some memory stays that V8 would give back.
 */
function keepShapesWhileIdle(): void {
  setFlagsFromString("--no-memory-reducer-favors-memory");
}
