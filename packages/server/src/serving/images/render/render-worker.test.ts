import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { palette, solid } from "../../../../test/support/render/test-images.ts";
import { type Frame, readFrames, writeFrame } from "./frame-channel.ts";

const workerPath = fileURLToPath(new URL("./render-worker.ts", import.meta.url));
const dot = await solid(1, 1, palette.red).png().toBuffer();
const slowOrder = { width: 4096, height: 4096, fit: "cover", quality: 85, format: "avif" };

/** The worker alone, without the pool that would kill it. */
async function startWorker(t: TestContext) {
  const child = spawn(process.execPath, [workerPath], {
    env: {},
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  const channel = child.stdio[3] as Socket;
  const frames: Frame[] = [];
  const ready = Promise.withResolvers<void>();
  readFrames(channel, (frame) => {
    frames.push(frame);
    ready.resolve();
  });
  await ready.promise;
  return { child, channel, frames };
}

test("an idle worker ends when the service is gone", async (t) => {
  const { child, channel } = await startWorker(t);
  channel.destroy();
  assert.deepEqual(await once(child, "exit"), [null, "SIGKILL"]);
});

test("a worker ends amid a job when the service is gone", async (t) => {
  const { child, channel, frames } = await startWorker(t);
  writeFrame(channel, slowOrder, dot);
  channel.end();
  assert.deepEqual(await once(child, "exit"), [null, "SIGKILL"]);
  assert.deepEqual(
    frames.map(({ header }) => header),
    [{ kind: "ready" }],
  );
});
