import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { StorageFull } from "../../ports/object-store.ts";
import { put } from "../../ports/object-store-contract-client.ts";
import { openTestStore } from "./open-test-store.ts";

const run = promisify(execFile);
const type = "application/octet-stream";

/** A disk of 4 MiB. Null, with the test skipped, where this user may not mount one. */
async function mountSmallDisk(t: TestContext): Promise<string | null> {
  const directory = await mkdtemp(join(tmpdir(), "upstow-small-"));
  try {
    await run("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", directory]);
  } catch (error) {
    await rm(directory, { recursive: true });
    t.skip(`a small disk cannot be mounted here: ${String(error).split("\n")[0]}`);
    return null;
  }
  t.after(async () => {
    await run("umount", [directory]);
    await rm(directory, { recursive: true });
  });
  return directory;
}

test("a disk that fills up in the middle answers 507 and keeps nothing", async (t) => {
  const disk = await mountSmallDisk(t);
  if (disk === null) return;
  const floorOff = { root: join(disk, "objects"), minFreeBytes: Number.NEGATIVE_INFINITY };
  await using opened = await openTestStore("sqlite", floorOff);
  const { store, listFiles } = opened;
  const send = async (key: string, sizeBytes: number) => {
    const url = await store.presignPut({ key, contentType: type, sizeBytes, expiresInSec: 60 });
    return (await put(url, randomBytes(sizeBytes), { "content-type": type })).status;
  };
  for (let excess = 1; excess < 2_000_000; excess = excess * 3 + 1000) {
    assert.equal(await send(`full/${excess}`, 4_194_304 + excess), 507);
    assert.equal(await store.findReceived(`full/${excess}`), null);
    assert.deepEqual(await listFiles(), []);
  }
  assert.equal(await send("fits", 1_000_000), 200);
  await assert.rejects(store.write("variant", randomBytes(4_000_000), { contentType: type }), StorageFull);
  assert.equal((await listFiles()).length, 1);
});

test("an upload that would not leave the floor free is refused before its body", async (t) => {
  const disk = await mountSmallDisk(t);
  if (disk === null) return;
  const floor = { root: join(disk, "objects"), minFreeBytes: 2_000_000 };
  await using opened = await openTestStore("sqlite", floor);
  const { store, listFiles } = opened;
  const url = await store.presignPut({ key: "k", contentType: type, sizeBytes: 3_000_000, expiresInSec: 60 });
  assert.equal((await put(url, randomBytes(3_000_000), { "content-type": type })).status, 507);
  assert.deepEqual(await listFiles(), []);
  await assert.rejects(store.write("variant", randomBytes(3_000_000), { contentType: type }), StorageFull);
  await store.write("small", randomBytes(1000), { contentType: type });
});
