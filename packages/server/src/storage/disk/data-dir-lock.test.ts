import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { DataDirInUse, lockDataDir } from "./identity.ts";

async function holdInAnotherProcess(directory: string) {
  const script = `
    import { lockDataDir } from ${JSON.stringify(new URL("./identity.ts", import.meta.url).href)};
    globalThis.lock = lockDataDir(${JSON.stringify(directory)});
    console.log("held");
    setInterval(() => {}, 1000);
  `;
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", script];
  const holder = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(holder.stdout, "data");
  return holder;
}

test("a second process is told that the directory is in use, until the first is killed", async () => {
  const directory = await mkdtemp(join(tmpdir(), "upstow-lock-"));
  const holder = await holdInAnotherProcess(directory);
  try {
    const isNamed = (error: unknown) => error instanceof DataDirInUse && error.message.includes(directory);
    assert.throws(() => lockDataDir(directory), isNamed);
    assert.throws(() => lockDataDir(directory), isNamed);
  } finally {
    holder.kill("SIGKILL");
    await once(holder, "exit");
  }
  const lock = lockDataDir(directory);
  assert.throws(() => lockDataDir(directory), DataDirInUse);
  lock.release();
  lockDataDir(directory).release();
  await rm(directory, { recursive: true });
});

test("the directory is made when it is not there", async () => {
  const parent = await mkdtemp(join(tmpdir(), "upstow-lock-"));
  lockDataDir(join(parent, "new", "data")).release();
  await rm(parent, { recursive: true });
});
