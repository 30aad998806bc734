import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { put, statusOf } from "../../../test/support/storage/contract-client.ts";
import { openTestStore } from "../../../test/support/storage/open-disk-store.ts";
import { StorageFull } from "../../kernel/errors.ts";

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

/** Announces a body and waits to be told to send it. */
async function announce(url: string, sizeBytes: number): Promise<{ socket: Socket; status: number }> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  const lines = [
    `PUT ${pathname} HTTP/1.1`,
    "Host: x",
    `Content-Type: ${type}`,
    `Content-Length: ${sizeBytes}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\nExpect: 100-continue\r\n\r\n`);
  const [answer] = await once(socket, "data");
  return { socket, status: statusOf(String(answer)) };
}

test("room that a body under way still needs is not given to another", { timeout: 30_000 }, async (t) => {
  const disk = await mountSmallDisk(t);
  if (disk === null) return;
  await using opened = await openTestStore("sqlite", {
    root: join(disk, "objects"),
    minFreeBytes: 1_000_000,
    largestRowBytes: 1000,
  });
  const { store } = opened;
  const half = 1_700_000;
  const presign = (key: string, sizeBytes: number) =>
    store.presignPut({ key, contentType: type, sizeBytes, expiresInSec: 60 });
  const firstUrl = await presign("first", half);
  const secondUrl = await presign("second", half);
  const uploadId = await store.startMultipart({ key: "parts", contentType: type, sizeBytes: half });
  const parts = { key: "parts", uploadId, sizeBytes: half, partNumbers: [1], expiresInSec: 60 };
  const [partUrl = ""] = await store.presignParts(parts);

  const first = await announce(firstUrl, half);
  assert.equal(first.status, 100);
  for (const url of [secondUrl, partUrl]) {
    const refused = await announce(url, half);
    assert.equal(refused.status, 507);
    refused.socket.destroy();
  }
  await assert.rejects(store.write("variant", randomBytes(half), { contentType: type }), StorageFull);
  assert.equal(
    (await put(await presign("small", 1000), randomBytes(1000), { "content-type": type })).status,
    200,
  );

  // What has arrived counts once, as bytes on the disk.
  first.socket.write(randomBytes(half - 1));
  const fits = await presign("fits", 1_000_000);
  let status = 0;
  while (status !== 200) {
    status = (await put(fits, randomBytes(1_000_000), { "content-type": type })).status;
    if (status !== 200) assert.equal(status, 507);
  }
  await store.delete(["fits"]);

  // A body that never comes gives its room back.
  first.socket.destroy();
  status = 0;
  while (status !== 200) {
    status = (await put(secondUrl, randomBytes(half), { "content-type": type })).status;
    if (status !== 200) assert.equal(status, 507);
    await sleep(10);
  }
});
