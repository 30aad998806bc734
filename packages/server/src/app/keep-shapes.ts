import { createHook } from "node:async_hooks";
import { setFlagsFromString } from "node:v8";

/**
 * V8 forgets a shape that no living object has when it collects garbage to save memory, and code that was compiled for
 * it is slow until it is compiled again, or for ever. Without this, uploads after a pause of some seconds take a fifth
 * more CPU.
 */
export function keepShapes(): void {
  keepShapeOfTicks();
  keepShapesWhileIdle();
}

const kept: object[] = [];

/**
 * Without it every process.nextTick would take a microsecond more after the first such collection, and a request makes
 * about ten. An object of that shape is only ever handed to a hook.
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
 * promises and rows; the next thousand uploads are slow. Garbage is still collected then, but after a heavy load some
 * memory stays that V8 would give back.
 */
function keepShapesWhileIdle(): void {
  setFlagsFromString("--no-memory-reducer-favors-memory");
}
