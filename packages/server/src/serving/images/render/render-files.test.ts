import assert from "node:assert/strict";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openTestPool } from "../../../../test/support/render/open-test-pool.ts";
import { noise } from "../../../../test/support/render/test-images.ts";
import { maxSourceBytes } from "./render-job.ts";

const folder = await mkdtemp(join(tmpdir(), "upstow-render-files-"));
const pool = openTestPool();
after(async () => {
  await pool.close();
  await rm(folder, { recursive: true });
});

const grain = await noise(200, 100, 1).png().toBuffer();
/** Several times what is held of a source at once. */
const large = await noise(1500, 1000, 1).png().toBuffer();
const ask = {
  account: "a",
  recipe: { width: 100, fit: "cover", quality: 85 },
  format: "png",
} as const;
const neverRead = () => assert.fail("the source was asked for although its file is there");

async function save(name: string, bytes: Buffer) {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return { path, sizeBytes: bytes.length };
}

test("a source sent from its file gives the same bytes as one that is held", async () => {
  for (const bytes of [grain, large]) {
    const source = await save("same.png", bytes);
    const sent = await pool.render({ ...ask, readSource: async () => bytes });
    const found = await pool.render({ ...ask, findSourceFile: async () => source, readSource: neverRead });
    assert.ok(sent.ok && found.ok && sent.bytes.length > 1000);
    assert.ok(found.bytes.equals(sent.bytes));
  }
});

test("a source whose file is gone, is none or has another size is asked for, and the worker stays", async () => {
  await pool.render({ ...ask, readSource: async () => grain });
  const cut = { ...(await save("cut.png", grain.subarray(0, 5000))), sizeBytes: grain.length };
  const gone = { path: join(folder, "gone.png"), sizeBytes: grain.length };
  const { workerPids } = pool.status();
  for (const source of [cut, gone, { ...gone, path: folder }]) {
    let reads = 0;
    const result = await pool.render({
      ...ask,
      findSourceFile: async () => source,
      async readSource() {
        reads++;
        return grain;
      },
    });
    assert.ok(result.ok && result.width === 100);
    assert.equal(reads, 1);
  }
  assert.deepEqual(pool.status().workerPids, workerPids);
});

test("a source that is cut off on its way is asked for, and the worker amid it is replaced", async () => {
  await pool.render({ ...ask, readSource: async () => grain });
  const [pid = 0] = pool.status().workerPids;
  const source = await save("shrinks.png", large);
  // Stopped, it cannot take all of it before the rest is gone.
  process.kill(pid, "SIGSTOP");
  const rendered = pool.render({ ...ask, findSourceFile: async () => source, readSource: async () => large });
  while (pool.status().running === 0) await new Promise(setImmediate);
  await truncate(source.path, 0);
  process.kill(pid, "SIGCONT");
  const result = await rendered;
  assert.ok(result.ok && result.width === 100);
});

test("a worker judges a file by its first bytes, and none is sent that is too large", async () => {
  const svg = await save(
    "picture.png",
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"/>`.repeat(3000)),
  );
  const render = (source: { path: string; sizeBytes: number }) =>
    pool.render({ ...ask, findSourceFile: async () => source, readSource: neverRead });
  assert.deepEqual(await render(svg), { ok: false, problem: "unsupported" });
  const huge = { path: svg.path, sizeBytes: maxSourceBytes + 1 };
  assert.deepEqual(await render(huge), { ok: false, problem: "too-many-bytes" });
});

test("a worker that dies with a source half sent costs one more attempt, not the job", async () => {
  await pool.render({ ...ask, readSource: async () => grain });
  const [pid = 0] = pool.status().workerPids;
  const source = await save("again.png", large);
  process.kill(pid, "SIGSTOP");
  const rendered = pool.render({ ...ask, findSourceFile: async () => source, readSource: neverRead });
  while (pool.status().running === 0) await new Promise(setImmediate);
  process.kill(pid, "SIGKILL");
  assert.ok((await rendered).ok);
});
