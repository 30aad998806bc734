import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import sharp from "sharp";
import { openTestPool } from "./open-test-pool.ts";
import { maxSourceBytes } from "./render-job.ts";
import { noise, palette, solid } from "./test-images.ts";

const folder = await mkdtemp(join(tmpdir(), "upstow-render-files-"));
const pool = openTestPool();
after(async () => {
  await pool.close();
  await rm(folder, { recursive: true });
});

const grain = await noise(200, 100, 1).png().toBuffer();
const dot = await solid(1, 1, palette.red).png().toBuffer();
const ask = { recipe: { width: 100, fit: "cover", quality: 85 }, format: "png" } as const;
const neverRead = () => assert.fail("the service read the source itself");

async function save(name: string, bytes: Buffer) {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return { path, sizeBytes: bytes.length };
}

test("a worker reads a source and writes an image by itself: no bytes pass through the service", async () => {
  const source = await save("grain.png", grain);
  const draft = { path: join(folder, "grain.draft"), leastBytes: 1000 };
  const result = await pool.render({
    ...ask,
    findSourceFile: async () => source,
    readSource: neverRead,
    draft,
  });
  assert.ok(result.ok);
  assert.equal(result.bytes.length, 0);
  const bytes = await readFile(draft.path);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  assert.deepEqual(result.written, { sizeBytes: bytes.length, sha256 });
  const { width, height, mediaType } = await sharp(bytes).metadata();
  assert.deepEqual([width, height, mediaType], [100, 50, result.contentType]);
});

test("both ways give the same bytes", async () => {
  const source = await save("same.png", grain);
  const sent = await pool.render({ ...ask, readSource: async () => grain });
  const found = await pool.render({ ...ask, findSourceFile: async () => source, readSource: neverRead });
  assert.ok(sent.ok && found.ok && sent.bytes.length > 1000);
  assert.ok(found.bytes.equals(sent.bytes));
});

test("a source whose file is gone or cut off is asked for, and the worker stays", async () => {
  const cut = { ...(await save("cut.png", grain.subarray(0, 5000))), sizeBytes: grain.length };
  const gone = { path: join(folder, "gone.png"), sizeBytes: grain.length };
  const { workerPids } = pool.status();
  for (const source of [cut, gone]) {
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

test("an image that is too small for a file, or that the disk does not take, is handed over", async () => {
  const path = join(folder, "small.draft");
  const small = await pool.render({
    ...ask,
    readSource: async () => dot,
    draft: { path, leastBytes: 50_000 },
  });
  assert.ok(small.ok && small.written === null && small.bytes.length > 0);
  await assert.rejects(stat(path), { code: "ENOENT" });
  const nowhere = { path: join(folder, "no-such-folder", "x"), leastBytes: 1 };
  const refused = await pool.render({ ...ask, readSource: async () => dot, draft: nowhere });
  assert.ok(refused.ok && refused.written === null);
  assert.ok(refused.bytes.equals(small.bytes));
});

test("a worker judges a file by its first bytes, and none is read that is too large", async () => {
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

test("a worker that dies amid its job leaves its draft to the next, which writes it whole", async () => {
  const source = await save("again.png", grain);
  const draft = { path: join(folder, "again.draft"), leastBytes: 1 };
  const found = Promise.withResolvers<typeof source>();
  const [pid] = pool.status().workerPids;
  assert.ok(pid !== undefined);
  // Stopped, it cannot be done before it is killed.
  process.kill(pid, "SIGSTOP");
  const rendered = pool.render({ ...ask, findSourceFile: () => found.promise, readSource: neverRead, draft });
  await writeFile(draft.path, Buffer.alloc(1_000_000));
  found.resolve(source);
  process.kill(pid, "SIGSEGV");
  process.kill(pid, "SIGCONT");
  const result = await rendered;
  assert.ok(result.ok && result.written !== null);
  const bytes = await readFile(draft.path);
  assert.equal(bytes.length, result.written.sizeBytes);
  assert.equal((await sharp(bytes).metadata()).width, 100);
});
