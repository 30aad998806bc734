import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { type Queryable, UniqueViolation } from "../src/db/database.ts";
import { migrate } from "../src/db/migrate.ts";
import { openPostgres } from "../src/db/postgres/postgres.ts";
import { openSqlite } from "../src/db/sqlite/sqlite.ts";
import { isOneOf, statement } from "../src/db/statement.ts";
import { openTestDatabase, type TestDatabase } from "./support/open-database.ts";
import { onBothDatabases } from "./support/start-app.ts";

const insertLink = statement((q, p: { hash: string; expiresAt: number }) =>
  q.insertInto("rate_window").values({ bucket: p.hash, started_at: p.expiresAt, count: 0 }),
);
const find = statement((q, p: { hash: string }) =>
  q.selectFrom("rate_window").selectAll().where("bucket", "=", p.hash),
);
const list = statement((q, _: object) => q.selectFrom("rate_window").select("bucket").orderBy("bucket"));
const listSome = statement((q, p: { hashes: string }, dialect) =>
  q
    .selectFrom("rate_window")
    .select("bucket")
    .where(isOneOf(dialect, "bucket", p.hashes))
    .orderBy("bucket"),
);
const bump = statement((q, p: { from: number }) =>
  q.updateTable("rate_window").set({ count: 7 }).where("started_at", ">=", p.from).returning("bucket"),
);
const clear = statement((q, _: object) => q.deleteFrom("rate_window"));

onBothDatabases("the database", (kind) => {
  let opened: TestDatabase;
  before(async () => {
    opened = await openTestDatabase(kind);
  });
  after(() => opened.close());
  const insert = (tx: Queryable, hash: string, expiresAt = 1) => tx.run(insertLink, { hash, expiresAt });
  const bucketOf = (rows: { bucket: string }[]) => rows.map((row) => row.bucket);

  it("runs one statement on both engines: rows, counts, changed rows, nothing", async () => {
    const { db } = opened;
    assert.equal(await insert(db, "one"), 1);
    assert.deepEqual(
      { ...(await db.get(find, { hash: "one" })) },
      { bucket: "one", started_at: 1, count: 0 },
    );
    assert.equal(await db.get(find, { hash: "none" }), null);
    assert.deepEqual(bucketOf(await db.change(bump, { from: 1 })), ["one"]);
    assert.equal(await db.run(bump, { from: 99 }), 0);
    assert.deepEqual(bucketOf(await db.all(listSome, { hashes: '["one","none","x\'"]' })), ["one"]);
    assert.equal(await db.run(clear, {}), 1);
  });

  it("recalls a row, and never one from before a change, whoever made it", async () => {
    const { db } = opened;
    const recall = () => db.recall(find, { hash: "kept" });
    const recallAll = async () => bucketOf([...(await db.recallAll(list, {}))]);
    assert.equal(await recall(), null);
    assert.deepEqual(await recallAll(), []);
    await insert(db, "kept", 5);
    const all = await Promise.all(Array.from({ length: 20 }, recall));
    assert.ok(all.every((row) => row?.started_at === 5 && row.count === 0));
    await db.run(bump, { from: 5 });
    assert.equal((await recall())?.count, 7);
    assert.deepEqual(await recallAll(), ["kept"]);
    const other = kind === "sqlite" ? openSqlite(opened.place) : openPostgres(opened.place);
    await other.run(clear, {});
    await other.close();
    assert.equal(await recall(), null);
    assert.deepEqual(await recallAll(), []);
  });

  it("does work of one lane together, each exactly once, whatever becomes of the others", async () => {
    const { db } = opened;
    const insertOrFail = (i: number) =>
      db.transact(async (tx) => {
        await insert(tx, `lane-${i}`);
        if (i % 10 === 3) throw new Error(`job ${i}`);
        if (i % 10 === 6) await insert(tx, "lane-0");
        return i;
      }, "lane");
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, (_, i) => insertOrFail(i)));
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") assert.equal(outcome.value, i);
      else if (i % 10 === 3) assert.match(String(outcome.reason), new RegExp(`job ${i}$`));
      else assert.ok(i % 10 === 6 && outcome.reason instanceof UniqueViolation, String(outcome.reason));
    }
    const left = Array.from({ length: 50 }, (_, i) => i).filter((i) => i % 10 !== 3 && i % 10 !== 6);
    assert.deepEqual(bucketOf(await db.all(list, {})), left.map((i) => `lane-${i}`).sort());
    await db.run(clear, {});
  });

  it("does nothing twice where work is refused before anything was changed", async () => {
    const { db } = opened;
    const runs: number[] = [];
    const look = (tx: Queryable) => tx.get(find, { hash: "absent" });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, i) =>
        db.transact(async (tx) => {
          runs.push(i);
          await look(tx);
          if (i > 0 && i < 6) throw new Error(`job ${i}`);
          for (let looks = 0; looks < 5; looks++) await look(tx);
          await insert(tx, `job-${i}`);
        }, "lane"),
      ),
    );
    assert.deepEqual(
      outcomes.map(({ status }) => status === "rejected"),
      Array.from({ length: 12 }, (_, i) => i > 0 && i < 6),
    );
    assert.deepEqual(
      runs.toSorted((a, b) => a - b),
      Array.from({ length: 12 }, (_, i) => i),
    );
    assert.equal((await db.all(list, {})).length, 7);
    await db.run(clear, {});
  });

  it("keeps whole numbers up to 2^53 - 1 and sorts text by its bytes", async () => {
    const { db } = opened;
    await insert(db, "b", Number.MAX_SAFE_INTEGER);
    for (const hash of ["a", "B", "_", "~", "Z", "ä", "0"]) await insert(db, hash);
    assert.equal((await db.get(find, { hash: "b" }))?.started_at, Number.MAX_SAFE_INTEGER);
    const sorted = bucketOf(await db.all(list, {}));
    assert.deepEqual(sorted, ["0", "B", "Z", "_", "a", "b", "~", "ä"]);
    await db.run(clear, {});
  });

  it("names the value that a call forgot", async () => {
    const { db } = opened;
    await assert.rejects(async () => db.get(find, {} as { hash: string }), /needs a value for "hash"/);
    assert.equal(find.compile("sqlite"), find.compile("sqlite"));
    assert.notEqual(find.compile("sqlite").sql, find.compile("postgres").sql);
  });

  it("rolls a failed transaction back as a whole, and no other", async () => {
    const { db } = opened;
    await insert(db, "taken");
    const results = await Promise.allSettled([
      db.transact((tx) => insert(tx, "first")),
      db.transact(async (tx) => {
        await insert(tx, "half");
        await insert(tx, "taken");
      }),
      db.transact(async (tx) => {
        await insert(tx, "thrown");
        throw new Error("changed my mind");
      }),
      db.transact(() => {
        throw new Error("at once");
      }),
      db.transact((tx) => insert(tx, "last")),
    ]);
    const reasons = results.map((result) => (result.status === "rejected" ? result.reason : null));
    assert.ok(reasons[1] instanceof UniqueViolation);
    assert.deepEqual([reasons[2]?.message, reasons[3]?.message], ["changed my mind", "at once"]);
    assert.deepEqual(bucketOf(await db.all(list, {})), ["first", "last", "taken"]);
    await db.run(clear, {});
  });

  it("shows a transaction its own changes, and nobody else before they are committed", async () => {
    const { db } = opened;
    await db.transact(async (tx) => {
      await insert(tx, "mine");
      assert.ok(await tx.get(find, { hash: "mine" }));
      assert.equal(await db.get(find, { hash: "mine" }), null);
    });
    assert.ok(await db.get(find, { hash: "mine" }));
    await db.run(clear, {});
  });

  it("tells every listener", async () => {
    const { db } = opened;
    const heard = Promise.withResolvers<string>();
    await db.listen("greetings", heard.resolve);
    await db.notify("greetings", "hello 'there'");
    assert.equal(await heard.promise, "hello 'there'");
    await db.check();
  });

  it("migrates once, again without effect, and refuses what a newer version made unless it only adds", async () => {
    const { db } = opened;
    const applied = statement((q, _: object) => q.selectFrom("migration").selectAll().orderBy("id"));
    const before = await db.all(applied, {});
    await migrate(db);
    assert.deepEqual([...(await db.all(applied, {}))], [...before]);
    const record = statement((q, p: { id: string }) =>
      q.insertInto("migration").values({ id: p.id, applied_at: 1 }),
    );
    await db.run(record, { id: "999-from-the-future" });
    await assert.rejects(migrate(db), /newer version.*999-from-the-future/);
    const allow = statement((q, p: { id: string }) =>
      q.updateTable("migration").set({ is_additive: 1 }).where("id", "=", p.id),
    );
    await db.run(allow, { id: "999-from-the-future" });
    await migrate(db);
    await db.run(record, { id: "998-breaking" });
    await assert.rejects(migrate(db), /newer version.*998-breaking/);
  });
});
