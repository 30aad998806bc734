import assert from "node:assert/strict";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createChunkMemory, SegmentStream } from "./segment-stream.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
const MiB = 1024 * 1024;

/** What is not needed any more is given back by another thread, a moment after it was found. */
async function countHeld(): Promise<number> {
  for (let turn = 0; turn < 5; turn++) {
    collectGarbage();
    await wait(20);
  }
  return process.memoryUsage().arrayBuffers;
}

it("holds little memory of chunks, however many were sent and however short their ends were", async () => {
  const memory = createChunkMemory();
  const before = await countHeld();
  for (let sent = 0; sent < 100; sent++) memory.giveBack(memory.take(MiB + sent).subarray(0, 10));
  assert.ok((await countHeld()) - before < 20 * MiB);
});

it("serves the next reader from the memory of the last, but none with far more than it needs", () => {
  const memory = createChunkMemory();
  const first = memory.take(MiB);
  memory.giveBack(first.subarray(0, 10));
  assert.notEqual(memory.take(MiB / 4).buffer, first.buffer);
  const next = memory.take(MiB - 1);
  assert.deepEqual([next.buffer, next.length], [first.buffer, MiB - 1]);
  assert.notEqual(memory.take(MiB).buffer, first.buffer, "it is in use");
  memory.giveBack(next);
  memory.giveBack(next);
  const [one, other] = [memory.take(MiB), memory.take(MiB)];
  assert.notEqual(one.buffer, other.buffer, "given back twice, it is still one");
});

it("starts with short chunks, so a stalled reader holds little memory", async () => {
  const path = join(await mkdtemp(join(tmpdir(), "upstow-stream-")), "blob");
  const sizeBytes = 3 * MiB;
  await writeFile(path, Buffer.alloc(sizeBytes));
  const stretch = { blob: "blob", sizeBytes, start: 0, end: sizeBytes };
  const stream = new SegmentStream(
    await open(path),
    [stretch],
    () => Promise.reject(new Error("there is one part only")),
    createChunkMemory(),
    () => MiB,
  );
  const lengths: number[] = [];
  for await (const chunk of stream) lengths.push(chunk.length / 1024);
  assert.deepEqual(lengths, [64, 128, 256, 512, 1024, 1024, 64]);
  await rm(dirname(path), { recursive: true });
});
