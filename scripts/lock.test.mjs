import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { withLock } from "./lock.mjs";

let folder;
let lock;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "upstow-lock-"));
  lock = join(folder, "lock");
});
afterEach(() => rm(folder, { recursive: true }));

const silent = () => {};

async function leaveLock(owner) {
  await mkdir(lock);
  await writeFile(join(lock, "owner"), owner);
}

test("only one holder at a time, and each gets its turn", async () => {
  const steps = [];
  const work = async () => {
    steps.push("in");
    await sleep(30);
    steps.push("out");
  };
  await Promise.all([1, 2, 3].map(() => withLock(lock, silent, work)));
  assert.deepEqual(steps, ["in", "out", "in", "out", "in", "out"]);
  assert.equal(existsSync(lock), false);
});

test("a failure passes through and frees the lock", async () => {
  await assert.rejects(
    withLock(lock, silent, () => Promise.reject(new Error("broken"))),
    /broken/,
  );
  assert.equal(existsSync(lock), false);
});

test("a lock whose owner has ended is taken over, by one of all that wait", async () => {
  const { pid } = spawnSync("true");
  await leaveLock(`${hostname()} ${pid}`);
  let inside = 0;
  const work = async () => {
    assert.equal(++inside, 1);
    await sleep(30);
    inside--;
  };
  await Promise.all([1, 2, 3].map(() => withLock(lock, silent, work)));
});

test("a lock from elsewhere is kept while its owner shows signs of life, and taken over after", async () => {
  await leaveLock("another-machine 1");
  const said = [];
  let entered = false;
  const holder = withLock(
    lock,
    (message) => said.push(message),
    async () => {
      entered = true;
    },
  );
  while (said.length === 0) await sleep(20);
  assert.equal(entered, false);
  const longAgo = new Date(Date.now() - 10 * 60_000);
  await utimes(lock, longAgo, longAgo);
  await holder;
  assert.equal(entered, true);
});
