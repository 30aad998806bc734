import assert from "node:assert/strict";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { SegmentStream } from "./segment-stream.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
const MiB = 1024 * 1024;

it("holds the memory of two chunks, however many were sent and however short their ends were", async () => {
  const stream = new SegmentStream(
    await open(fileURLToPath(import.meta.url)),
    [],
    () => Promise.reject(new Error("nothing is read here")),
    () => MiB,
  );
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  for (let sent = 0; sent < 100; sent++) stream.recycle(Buffer.allocUnsafeSlow(MiB).subarray(0, 10));
  collectGarbage();
  assert.ok(process.memoryUsage().arrayBuffers - before < 5 * MiB);
  await once(stream.destroy(), "close");
});
