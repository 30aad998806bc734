import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readSourceFile, writeDraft } from "./local-files.ts";

const folder = await mkdtemp(join(tmpdir(), "upstow-local-files-"));
after(() => rm(folder, { recursive: true }));
const bytes = randomBytes(3_000_000);

test("a source is read whole into the memory it is given", async () => {
  const path = join(folder, "source");
  await writeFile(path, bytes);
  const memory = Buffer.alloc(bytes.length + 10);
  const read = readSourceFile({ path, sizeBytes: bytes.length }, (sizeBytes) =>
    memory.subarray(0, sizeBytes),
  );
  assert.ok(read !== null);
  assert.ok(read.equals(bytes));
  assert.equal(read.buffer, memory.buffer);
});

test("a file that is gone, is none, or has another size is not the source", async () => {
  const path = join(folder, "changed");
  await writeFile(path, bytes);
  const read = (source: string, sizeBytes: number) =>
    readSourceFile({ path: source, sizeBytes }, (count) => Buffer.alloc(count));
  assert.equal(read(path, bytes.length - 1), null);
  assert.equal(read(path, bytes.length + 1), null);
  assert.equal(read(join(folder, "gone"), bytes.length), null);
  const { size } = await stat(folder);
  assert.equal(read(folder, size), null);
});

test("an image is written whole, for nobody else to read, over what an attempt before it has left", async () => {
  const path = join(folder, "draft");
  await writeFile(path, randomBytes(bytes.length + 1000), { mode: 0o600 });
  assert.deepEqual(writeDraft({ path, leastBytes: bytes.length }, bytes), {
    sizeBytes: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
  });
  assert.ok((await readFile(path)).equals(bytes));
  const fresh = join(folder, "fresh");
  writeDraft({ path: fresh, leastBytes: 1 }, bytes);
  assert.equal((await stat(fresh)).mode & 0o777, 0o600);
});

test("what is too small for a file or cannot be written is not", async () => {
  const path = join(folder, "small");
  assert.equal(writeDraft({ path, leastBytes: bytes.length + 1 }, bytes), null);
  await assert.rejects(stat(path), { code: "ENOENT" });
  assert.equal(writeDraft({ path: join(folder, "no-such-folder", "draft"), leastBytes: 1 }, bytes), null);
  await mkdir(join(folder, "a-folder"));
  assert.equal(writeDraft({ path: join(folder, "a-folder"), leastBytes: 1 }, bytes), null);
});
