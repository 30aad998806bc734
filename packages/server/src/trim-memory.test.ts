import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

/** Nothing else would make V8 collect them: the process does nothing more. */
const script = `
  import { setTimeout as wait } from "node:timers/promises";
  import { trimMemory } from ${JSON.stringify(new URL("trim-memory.ts", import.meta.url).href)};
  trimMemory();
  await wait(1_500);
  let held = Array.from({ length: 200 }, () => Buffer.alloc(1024 * 1024));
  // A collection that comes while they are in use makes V8 expect that they stay.
  await wait(3_000);
  console.log(held.length);
  held = null;
  const startedAt = Date.now();
  const heldMb = () => process.memoryUsage().arrayBuffers / 1024 / 1024;
  while (heldMb() > 100 && Date.now() - startedAt < 60_000) await wait(100);
  console.log(Math.round(heldMb()));
`;

test("buffers that nobody uses any more are given back, though nothing happens", async () => {
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const [before = "", after = ""] = stdout.trim().split("\n");
  assert.equal(before, "200");
  assert.ok(Number(after) < 100, `${after} MB are held`);
});
