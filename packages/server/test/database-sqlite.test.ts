import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { DatabaseUnavailable, type Queryable } from "../src/db/database.ts";
import { openConnection } from "../src/db/sqlite/connection.ts";
import { createSnapshot } from "../src/db/sqlite/recall.ts";
import { openSqlite } from "../src/db/sqlite/sqlite.ts";
import { statement } from "../src/db/statement.ts";
import { openTestDatabase, type TestDatabase } from "./support/open-database.ts";

const insertWindow = statement((q, p: { bucket: string }) =>
  q.insertInto("rate_window").values({ bucket: p.bucket, started_at: 1, count: 0 }),
);
const insertOther = statement((q, p: { id: string }) =>
  q.insertInto("migration").values({ id: p.id, applied_at: 0 }),
);
const list = statement((q, _: object) => q.selectFrom("rate_window").select("bucket").orderBy("bucket"));

describe("group commit", () => {
  let opened: TestDatabase;
  before(async () => {
    opened = await openTestDatabase("sqlite");
  });
  after(() => opened.close());
  const insert = (tx: Queryable, bucket: string) => tx.run(insertWindow, { bucket });
  const buckets = async () => (await opened.db.all(list, {})).map((row) => row.bucket);

  /** Frames of the write-ahead log that end a transaction say how large the database is after it. */
  async function countCommits(): Promise<number> {
    const wal = await readFile(`${opened.place}-wal`);
    const frameBytes = 24 + wal.readUInt32BE(8);
    const salt = wal.subarray(16, 24);
    let commits = 0;
    for (let at = 32; at + frameBytes <= wal.length; at += frameBytes) {
      if (wal.subarray(at + 8, at + 16).equals(salt) && wal.readUInt32BE(at + 4) !== 0) commits++;
    }
    return commits;
  }

  it("makes all transactions of one turn durable with one commit", async () => {
    const before = await countCommits();
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => opened.db.transact((tx) => insert(tx, `shared-${i}`))),
    );
    assert.equal((await countCommits()) - before, 1);
    assert.equal((await buckets()).filter((bucket) => bucket.startsWith("shared-")).length, 100);
    await insert(opened.db, "alone");
    assert.equal((await countCommits()) - before, 2);
  });

  it("lets who is alone commit at once, and all who come after that in the same turn commit together", async () => {
    for (const bucket of ["quiet-1", "quiet-2"]) {
      await nextTurn();
      await insert(opened.db, bucket);
    }
    await nextTurn();
    const before = await countCommits();
    await nextTurn();
    let isSameTurn = true;
    setImmediate(() => {
      isSameTurn = false;
    });
    await insert(opened.db, "first");
    assert.ok(isSameTurn);
    const later: Promise<number>[] = [];
    for (let i = 0; i < 20; i++) {
      later.push(insert(opened.db, `later-${i}`));
      await null;
    }
    assert.ok(isSameTurn);
    await Promise.all(later);
    assert.equal((await countCommits()) - before, 2);
  });

  it("has those join who come in the next turns, but lets nobody wait for ever", async () => {
    const before = await countCommits();
    const pair = (name: string) => [`${name}-a`, `${name}-b`].map((bucket) => insert(opened.db, bucket));
    const joined = [...pair("joined-0")];
    for (let turn = 1; turn < 3; turn++) {
      await nextTurn();
      joined.push(...pair(`joined-${turn}`));
    }
    await Promise.all(joined);
    assert.equal((await countCommits()) - before, 1);

    let isDone = false;
    const first = Promise.all(pair("endless-0")).then(() => {
      isDone = true;
    });
    let turns = 0;
    for (; !isDone && turns < 100; turns++) {
      await nextTurn();
      void pair(`endless-${turns + 1}`);
    }
    await first;
    assert.ok(turns < 10, `${turns} turns`);
    await opened.db.transact(async () => {});
  });

  it("commits nothing for a transaction that failed, also when it was the only one", async () => {
    const failing = opened.db.transact(async (tx) => {
      await insert(tx, "never");
      throw new Error("no");
    });
    await assert.rejects(failing, /no/);
    assert.ok(!(await buckets()).includes("never"));
  });

  it("refuses a transaction that waits for anything but its own statements, and nobody else suffers", async () => {
    const { db } = opened;
    let late: unknown;
    const misused = [
      db.transact(async (tx) => {
        await insert(tx, "slept");
        await wait(5);
        await insert(tx, "too late").catch((error) => {
          late = error;
        });
      }),
      db.transact(async (tx) => {
        await insert(tx, "nested-outer");
        await db.transact((inner) => insert(inner, "nested-inner"));
      }),
      db.transact(async (tx) => {
        await insert(tx, "wrote outside");
        await insert(db, "outside");
      }),
      db.transact(() => new Promise(() => {})),
      db.transact(async (tx) => {
        await insert(tx, "read a file");
        await readFile(opened.place);
      }),
    ];
    const honest = Array.from({ length: 5 }, (_, i) => db.transact((tx) => insert(tx, `honest-${i}`)));
    for (const misuse of misused)
      await assert.rejects(misuse, /waited for something other than its own statements/);
    await Promise.all(honest);
    await wait(20);
    assert.match(String(late), /this transaction has ended/);
    const found = await buckets();
    for (const bucket of ["slept", "too late", "nested-outer", "wrote outside", "read a file"]) {
      assert.ok(!found.includes(bucket), bucket);
    }
    assert.equal(found.filter((bucket) => bucket.startsWith("honest-")).length, 5);
  });

  it("takes long chains of its own statements", async () => {
    await opened.db.transact(async (tx) => {
      for (let i = 0; i < 2000; i++) await insert(tx, `chain-${i}`);
    });
    assert.equal((await buckets()).filter((bucket) => bucket.startsWith("chain-")).length, 2000);
  });

  it("waits for another process's lock without holding up its own", async () => {
    const other = new DatabaseSync(opened.place);
    other.exec("BEGIN IMMEDIATE");
    let isDone = false;
    const waiting = opened.db
      .transact((tx) => insert(tx, "patient"))
      .finally(() => {
        isDone = true;
      });
    for (let turn = 0; turn < 10; turn++) {
      await wait(5);
      assert.ok(!(await buckets()).includes("patient"));
    }
    assert.equal(isDone, false);
    other.exec("COMMIT");
    other.close();
    await waiting;
    assert.ok((await buckets()).includes("patient"));
  });

  it("keeps its files from other users", async () => {
    for (const suffix of ["", "-wal", "-shm"]) {
      assert.equal((await stat(opened.place + suffix)).mode & 0o077, 0, suffix);
    }
  });
});

it("lives on where a failed read has ended the snapshot", async (t) => {
  const opened = await openTestDatabase("sqlite");
  t.after(() => opened.close());
  const [writer, reader] = [openConnection(opened.place), openConnection(opened.place)];
  t.after(() => [writer, reader].map(({ database }) => database.close()));
  const snapshot = createSnapshot(writer, reader);
  snapshot.open();
  writer.database.exec("ROLLBACK");
  snapshot.end();
  assert.deepEqual(snapshot.open().all(list, {}), []);
  snapshot.end();
});

it("forgets what was recalled from before another process's change, made between two reads of one turn", async (t) => {
  const opened = await openTestDatabase("sqlite");
  t.after(() => opened.close());
  const { db, place } = opened;
  const recall = () => db.recallAll(list, {});
  const other = new DatabaseSync(place);
  t.after(() => other.close());
  await nextTurn();
  void db.all(list, {});
  other.exec("INSERT INTO rate_window (bucket, started_at, count) VALUES ('theirs', 1, 0)");
  assert.equal((await recall()).length, 0);
  await nextTurn();
  await nextTurn();
  assert.equal((await recall()).length, 1);
});

it("recalls what was read while other tables change, and nothing that this process has changed", async (t) => {
  const opened = await openTestDatabase("sqlite");
  t.after(() => opened.close());
  const { db } = opened;
  const recall = () => db.recallAll(list, {});
  await db.run(insertWindow, { bucket: "first" });
  const first = await recall();
  await db.run(insertOther, { id: "other" });
  assert.equal(await recall(), first);
  const inTransaction = db.transact(async (tx) => {
    await tx.run(insertWindow, { bucket: "second" });
    // Whoever asks now is answered from before the change, and nobody later.
    assert.equal(await recall(), first);
  });
  await inTransaction;
  assert.equal((await recall()).length, 2);
  await db.migrate((tx) => tx.script("DELETE FROM rate_window"));
  assert.equal((await recall()).length, 0);
});

describe("an embedded database opened by four processes at once", () => {
  it("is migrated by one of them", async (t) => {
    const dir = await mkdtemp(join(tmpdir(), "upstow-race-"));
    t.after(() => rm(dir, { recursive: true }));
    const from = (path: string) => JSON.stringify(new URL(`../src/${path}`, import.meta.url).href);
    const program = `
      import { openSqlite } from ${from("db/sqlite/sqlite.ts")};
      import { migrate } from ${from("db/migrate.ts")};
      const db = openSqlite(${JSON.stringify(join(dir, "upstow.db"))});
      await migrate(db);
      await db.close();`;
    const run = () =>
      promisify(execFile)(process.execPath, [
        "--disable-warning=ExperimentalWarning",
        "--input-type=module-typescript",
        "-e",
        program,
      ]);
    await Promise.all(Array.from({ length: 4 }, run));
  });
});

it("a database is no longer ready once a statement has met a damaged page", async (t) => {
  const opened = await openTestDatabase("sqlite");
  const dir = await mkdtemp(join(tmpdir(), "upstow-damaged-"));
  t.after(() => rm(dir, { recursive: true }));
  const path = join(dir, "upstow.db");
  await opened.db.run(insertWindow, { bucket: "b" });
  const copy = new DatabaseSync(opened.place);
  copy.prepare("VACUUM INTO ?").run(path);
  copy.close();
  await opened.close();

  const file = new DatabaseSync(path);
  const { page } = file
    .prepare("SELECT rootpage AS page FROM sqlite_schema WHERE name = 'rate_window'")
    .get() as {
    page: number;
  };
  const { size } = file.prepare("SELECT page_size AS size FROM pragma_page_size").get() as { size: number };
  file.close();
  const bytes = await readFile(path);
  await writeFile(path, bytes.fill(0xff, (page - 1) * size, page * size));

  const db = openSqlite(path);
  t.after(() => db.close());
  await db.check();
  // `list` would read the index alone.
  const listWhole = statement((q, _: object) => q.selectFrom("rate_window").selectAll());
  await assert.rejects(db.all(listWhole, {}), DatabaseUnavailable);
  await assert.rejects(db.check(), { name: "DatabaseUnavailable", message: /damaged; restore/ });
});
