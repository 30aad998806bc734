import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { statement } from "../statement.ts";
import { createCheckpoints } from "./checkpoints.ts";
import { openSqlite } from "./sqlite.ts";

const pageBytes = 8192;
const folder = mkdtempSync(join(tmpdir(), "upstow-checkpoints-"));
after(() => rmSync(folder, { recursive: true }));

let files = 0;
const newPath = () => join(folder, `${++files}.db`);
const sizeOf = (path: string) => statSync(path).size;

/** Waits for what another thread does. */
async function until(isSo: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 3_000 && !isSo(); tries++) await wait(10);
  return isSo();
}

function openTable(path: string): DatabaseSync {
  const writer = new DatabaseSync(path);
  writer.exec(
    `PRAGMA page_size = ${pageBytes}; PRAGMA journal_mode = WAL; CREATE TABLE big (bytes BLOB) STRICT`,
  );
  return writer;
}

/** 300 pages of log, fewer than the engine copies by itself. */
function writePages(writer: DatabaseSync): void {
  writer.exec(
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO big SELECT randomblob(7000) FROM n",
  );
}

const pagesBeforeOwnTurn = (writer: DatabaseSync) =>
  writer.prepare("PRAGMA wal_autocheckpoint").get()?.["wal_autocheckpoint"];

/** In a process that closes nothing; prints when the engine has its own turn after load. */
function countElsewhere(...flags: string[]): Promise<{ stdout: string; stderr: string }> {
  const path = newPath();
  openTable(path).close();
  const program = `
    import { DatabaseSync } from "node:sqlite";
    import { createCheckpoints } from ${JSON.stringify(new URL("./checkpoints.ts", import.meta.url).href)};
    const writer = new DatabaseSync(${JSON.stringify(path)});
    createCheckpoints(writer).count(256);
    console.log(writer.prepare("PRAGMA wal_autocheckpoint").get().wal_autocheckpoint);`;
  const args = ["--disable-warning=ExperimentalWarning", ...flags, "--input-type=module", "--eval", program];
  return promisify(execFile)(process.execPath, args, { timeout: 10_000 });
}

describe("checkpoints", () => {
  it("are made beside the commits under load", async () => {
    const path = newPath();
    const writer = openTable(path);
    const checkpoints = createCheckpoints(writer);
    writePages(writer);
    assert.ok(sizeOf(path) < 10 * pageBytes);
    checkpoints.count(255);
    checkpoints.count(1);
    assert.ok(await until(() => sizeOf(path) > 300 * pageBytes));
    assert.equal(pagesBeforeOwnTurn(writer), 4000);
    await checkpoints.close();
    writer.close();
    assert.equal(existsSync(`${path}-wal`), false);
  });

  it("are the engine's own without load, until there has been any", async () => {
    const path = newPath();
    const writer = openTable(path);
    let time = 0;
    const checkpoints = createCheckpoints(writer, () => time);
    writePages(writer);
    time += 1000;
    checkpoints.count(256);
    assert.equal(pagesBeforeOwnTurn(writer), 1000);
    time += 999;
    checkpoints.count(256);
    assert.ok(await until(() => sizeOf(path) > 300 * pageBytes));
    const copied = sizeOf(path);
    writePages(writer);
    time += 60_000;
    // The thread may still be at the last one.
    assert.ok(
      await until(() => {
        checkpoints.count(256);
        return sizeOf(path) > copied;
      }),
    );
    await checkpoints.close();
    writer.close();
  });

  it("are the engine's own again when the thread fails", async () => {
    const path = newPath();
    const writer = openTable(path);
    const checkpoints = createCheckpoints(writer);
    renameSync(path, `${path}.moved`);
    mkdirSync(path);
    checkpoints.count(256);
    assert.equal(pagesBeforeOwnTurn(writer), 4000);
    assert.ok(await until(() => pagesBeforeOwnTurn(writer) === 1000));
    checkpoints.count(256);
    assert.equal(pagesBeforeOwnTurn(writer), 1000);
    await checkpoints.close();
    writer.close();
  });

  it("are the engine's own where no thread is allowed", async () => {
    const { stdout, stderr } = await countElsewhere(
      "--permission",
      "--allow-fs-read=*",
      "--allow-fs-write=*",
    );
    assert.deepEqual([stdout, stderr], ["1000\n", ""]);
  });

  it("hold no process that would end", async () => {
    const { stdout, stderr } = await countElsewhere();
    assert.deepEqual([stdout, stderr], ["4000\n", ""]);
  });

  it("need no thread for a database in memory", async () => {
    const writer = new DatabaseSync(":memory:");
    const checkpoints = createCheckpoints(writer);
    checkpoints.count(256);
    assert.equal(pagesBeforeOwnTurn(writer), 1000);
    await checkpoints.close();
    writer.close();
  });

  it("keep the log short while transactions go on without a pause, and lose none", async () => {
    const path = newPath();
    const db = openSqlite(path);
    await db.migrate((tx) =>
      tx.script("CREATE TABLE disk_small_blob (blob TEXT PRIMARY KEY, bytes BLOB) STRICT"),
    );
    const insert = statement((q, p: { blob: string; bytes: Uint8Array }) =>
      q.insertInto("disk_small_blob").values({ blob: p.blob, bytes: p.bytes }),
    );
    const bytes = Buffer.alloc(2 * pageBytes, 1);
    let longestLog = 0;
    for (let round = 0; round < 200; round++) {
      const blobs = Array.from({ length: 32 }, (_, i) => `${round}-${i}`);
      await Promise.all(blobs.map((blob) => db.run(insert, { blob, bytes })));
      longestLog = Math.max(longestLog, sizeOf(`${path}-wal`));
    }
    await db.close();
    assert.ok(longestLog < 6000 * pageBytes, `the log had ${longestLog} bytes`);
    const after = new DatabaseSync(path);
    assert.equal(after.prepare("SELECT count(*) AS n FROM disk_small_blob").get()?.["n"], 6400);
    assert.equal(after.prepare("PRAGMA integrity_check").get()?.["integrity_check"], "ok");
    after.close();
  });
});
