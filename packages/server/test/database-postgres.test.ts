import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { TLSSocket } from "node:tls";
import { sql } from "#kysely";
import { createTestDatabase, startPostgres } from "../../../test/support/postgres.ts";
import { setUpInstallation } from "../src/app/first-start.ts";
import {
  type Database,
  DatabaseUnavailable,
  type Queryable,
  UniqueViolation,
  withCommit,
} from "../src/db/database.ts";
import { migrate } from "../src/db/migrate.ts";
import { openPostgres } from "../src/db/postgres/postgres.ts";
import { statement } from "../src/db/statement.ts";
import { createKeyring } from "../src/kernel/security/keyring.ts";
import { expectError } from "./support/expect-error.ts";
import { startSilentNetwork } from "./support/silent-network.ts";
import { startApp } from "./support/start-app.ts";
import { createCertificate } from "./support/webhooks/certificate.ts";

const find = statement((q, p: { bucket: string }) =>
  q.selectFrom("rate_window").selectAll().where("bucket", "=", p.bucket),
);
const insert = statement((q, p: { bucket: string }) =>
  q.insertInto("rate_window").values({ bucket: p.bucket, started_at: 0, count: 0 }),
);
const count = statement((q, p: { bucket: string }) =>
  q.updateTable("rate_window").set({ count: sql<number>`count + 1` }).where("bucket", "=", p.bucket),
);
const insertSlowly = statement((q, p: { bucket: string }) =>
  q
    .insertInto("rate_window")
    .columns(["bucket", "started_at", "count"])
    .expression(sql`select cast(${p.bucket} as text), 0, 0 from pg_sleep(0.2)`),
);
const endOthers = statement((q, _: object) =>
  q
    .selectNoFrom(sql<number>`1`.as("one"))
    .where(
      sql<boolean>`(select bool_and(pg_terminate_backend(pid)) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid())`,
    ),
);

async function openMigrated(t: TestContext): Promise<{ db: Database; url: string }> {
  const { url, drop } = await createTestDatabase();
  t.after(drop);
  const db = openPostgres(url);
  t.after(() => db.close());
  await migrate(db);
  return { db, url };
}

describe("PostgreSQL", () => {
  it("is migrated and set up by one of four instances that start at once", async (t) => {
    const { url, drop } = await createTestDatabase();
    const dbs = Array.from({ length: 4 }, () => openPostgres(url));
    t.after(async () => {
      await Promise.all(dbs.map((db) => db.close()));
      await drop();
    });
    const keyring = createKeyring(["one secret that every instance knows"]);
    const starts = await Promise.all(
      dbs.map(async (db) => {
        await migrate(db);
        return setUpInstallation({ db, keyring, now: Date.now });
      }),
    );
    assert.equal(starts.filter((start) => start !== null).length, 1);
  });

  it("is said to be unavailable in its own words where it lets nobody in, or does not know what the address names", async (t) => {
    const { url, drop } = await createTestDatabase();
    t.after(drop);
    for (const [part, value, message] of [
      ["pathname", "/none", /: database "none" does not exist \(3D000\)$/],
      ["username", "nobody", /: password authentication failed for user "nobody" \(28P01\)$/],
      ["search", "channel_binding=require", /: unrecognized configuration parameter "channel_binding"/],
      ["search", "sslmode=verify-full&sslrootcert=/none", /: ENOENT: .*'\/none'/],
    ] as const) {
      const address = new URL(url);
      address[part] = value;
      const db = openPostgres(address.href);
      t.after(() => db.close());
      await assert.rejects(db.check(), { name: "DatabaseUnavailable", message });
    }
  });

  it("is said to be unavailable where nobody listens, and the name of the database is wrong", async (t) => {
    const db = openPostgres("postgres://nobody:secret@127.0.0.1:1/none");
    t.after(() => db.close());
    await assert.rejects(
      db.check(),
      (error) =>
        error instanceof DatabaseUnavailable &&
        /ECONNREFUSED/.test(error.message) &&
        !error.message.includes("secret"),
    );
  });

  it("is said to be unavailable behind something that closes every connection", async (t) => {
    const server = createServer((socket) => socket.on("error", () => {}).end());
    await once(server.listen(0, "127.0.0.1"), "listening");
    t.after(() => server.close());
    const db = openPostgres(`postgres://127.0.0.1:${(server.address() as AddressInfo).port}/none`);
    t.after(() => db.close());
    const answers = Array.from({ length: 30 }, () => assert.rejects(db.check(), DatabaseUnavailable));
    await Promise.all(answers);
  });

  it("is said to be unavailable where its machine is gone without a word, and comes back", async (t) => {
    const { url, drop } = await createTestDatabase();
    t.after(drop);
    const network = await startSilentNetwork(t, url);
    const db = openPostgres(network.url, { maxConnections: 1, statementMs: 100 });
    t.after(() => db.close());
    await db.check();
    network.setSilent(true);
    const sides = [db.check(), db.transact((tx) => tx.get(find, { bucket: "b" })), db.notify("channel", "")];
    await Promise.all(sides.map((side) => assert.rejects(side, DatabaseUnavailable)));
    network.setSilent(false);
    const isBack = () =>
      db.check().then(
        () => true,
        () => false,
      );
    while (!(await isBack())) await wait(50);
  });

  it("takes settings for the server from the address", async (t) => {
    const { url, drop } = await createTestDatabase();
    t.after(drop);
    const address = new URL(url);
    address.search = "connect_timeout=3&statement_timeout=700&search_path=one, two&options=-c work_mem=1MB";
    const db = openPostgres(address.href);
    t.after(() => db.close());
    const names = [
      "statement_timeout",
      "idle_in_transaction_session_timeout",
      "search_path",
      "work_mem",
      "application_name",
    ];
    const show = statement((q, _: object) =>
      q.selectNoFrom(names.map((name) => sql<string>`current_setting(${sql.lit(name)})`.as(name))),
    );
    // The second is how long an instance that stands still can hold up others.
    const expected = ["700ms", "2s", "one, two", "1MB", "upstow"];
    assert.deepEqual(Object.values((await db.get(show, {})) ?? {}), expected);
  });

  it("encrypts where the address asks for it, and knows the server where it asks for that too", async (t) => {
    const { url, drop } = await createTestDatabase();
    t.after(drop);
    const { port, hostname } = new URL(url);
    const certificate = await createCertificate();
    const encrypted = createServer(async (socket) => {
      socket.on("error", () => {});
      await once(socket, "data");
      socket.write("S");
      const opened = new TLSSocket(socket, { isServer: true, ...certificate }).on("error", () => {});
      opened.pipe(connect(Number(port), hostname).on("error", () => {})).pipe(opened);
    });
    await once(encrypted.listen(0, "127.0.0.1"), "listening");
    t.after(() => encrypted.close());
    const address = new URL(url);
    address.port = String((encrypted.address() as AddressInfo).port);
    address.search = "sslmode=require";
    const db = openPostgres(address.href);
    t.after(() => db.close());
    await db.check();
    address.search = "sslmode=verify-full";
    const careful = openPostgres(address.href);
    t.after(() => careful.close());
    await assert.rejects(careful.check(), {
      name: "DatabaseUnavailable",
      message: /self-signed certificate/,
    });
  });

  it("commits nothing after a statement that failed, even where the error was caught", async (t) => {
    const { db } = await openMigrated(t);
    await db.run(insert, { bucket: "taken" });
    const transaction = db.transact(async (tx) => {
      await tx.run(insert, { bucket: "new" });
      await tx.run(insert, { bucket: "taken" }).catch(() => {});
    });
    await assert.rejects(transaction, UniqueViolation);
    assert.equal(await db.get(find, { bucket: "new" }), null);
  });

  it("sends nothing more for work that has failed, which would be committed by itself", async (t) => {
    const { db } = await openMigrated(t);
    let late: Promise<unknown> = Promise.resolve();
    const refused = db.transact(async (tx) => {
      const guard = tx.run(count, { bucket: "absent" });
      late = tx.run(insertSlowly, { bucket: "first" }).then(() => tx.run(insert, { bucket: "second" }));
      late.catch(() => {});
      if ((await guard) === 0) throw new Error("refused");
    });
    await assert.rejects(refused, /^Error: refused$/);
    await assert.rejects(late, /the transaction has ended/);
    for (const bucket of ["first", "second"]) assert.equal(await db.get(find, { bucket }), null);
  });

  it("undoes what a job of a lane has sent when it is refused before the result is here", async (t) => {
    const { db } = await openMigrated(t);
    const refused = db.transact(async (tx) => {
      const guard = tx.run(count, { bucket: "absent" });
      const consequence = tx.run(insertSlowly, { bucket: "consequence" });
      consequence.catch(() => {});
      if ((await guard) === 0) throw new Error("refused");
      await consequence;
    }, "lane");
    const other = db.transact((tx) => tx.run(insert, { bucket: "other" }), "lane");
    await assert.rejects(refused, /^Error: refused$/);
    assert.equal(await other, 1);
    assert.equal(await db.get(find, { bucket: "consequence" }), null);
    assert.notEqual(await db.get(find, { bucket: "other" }), null);
  });

  it("lets others go on when an instance stands still in a transaction, before they give up", async (t) => {
    const { db, url } = await openMigrated(t);
    const other = openPostgres(url);
    t.after(() => other.close());
    await db.run(insert, { bucket: "shared" });
    const [hasChanged, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const frozen = db.transact(async (tx) => {
      await tx.run(count, { bucket: "shared" });
      hasChanged.resolve();
      await goesOn.promise;
      await tx.run(count, { bucket: "shared" });
    });
    await hasChanged.promise;
    assert.equal(await other.run(count, { bucket: "shared" }), 1);
    goesOn.resolve();
    await assert.rejects(frozen, DatabaseUnavailable);
    assert.equal((await other.get(find, { bucket: "shared" }))?.count, 1, "what it had changed is undone");
  });

  it("locks rows that are changed with the commit only then", async (t) => {
    const { db } = await openMigrated(t);
    await db.run(insert, { bucket: "shared" });
    const [hasBegun, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const open = db.transact(async (tx) => {
      await withCommit(tx, () => tx.run(count, { bucket: "shared" }));
      await tx.run(insert, { bucket: "own" });
      hasBegun.resolve();
      await goesOn.promise;
    });
    await hasBegun.promise;
    await db.transact((tx) => withCommit(tx, () => tx.run(count, { bucket: "shared" })), "lane");
    assert.equal((await db.get(find, { bucket: "shared" }))?.count, 1, "while the first is still open");
    goesOn.resolve();
    await open;
    assert.equal((await db.get(find, { bucket: "shared" }))?.count, 2);
  });

  it("commits nothing if what is sent with the commit fails, on the server or before", async (t) => {
    const { db } = await openMigrated(t);
    const failures: [() => Promise<unknown>, { name: string }][] = [
      [
        () => db.transact((tx) => endWith(tx, () => tx.run(insert, { bucket: "new" }))),
        { name: "UniqueViolation" },
      ],
      [() => db.transact((tx) => endWith(tx, () => tx.run(insert, {} as never))), { name: "TypeError" }],
    ];
    const endWith = async (tx: Queryable, send: () => Promise<unknown>) => {
      await withCommit(tx, send);
      await tx.run(insert, { bucket: "new" });
    };
    for (const [transact, expected] of failures) {
      await assert.rejects(transact(), expected);
      assert.equal(await db.get(find, { bucket: "new" }), null);
    }
    await db.run(insert, { bucket: "new" });
  });

  it("spares the others of a lane what one of them sends with the commit, or leaves unsent", async (t) => {
    const { db } = await openMigrated(t);
    await db.run(insert, { bucket: "taken" });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, (_, i) =>
        db.transact(async (tx) => {
          await withCommit(tx, () => tx.run(insert, { bucket: i === 3 ? "taken" : `end-${i}` }));
          if (i === 6) throw new Error("refused after that");
        }, "lane"),
      ),
    );
    const failed = outcomes.flatMap(({ status }, i) => (status === "rejected" ? [i] : []));
    assert.deepEqual(failed, [3, 6]);
    for (let i = 0; i < 12; i++)
      assert.equal((await db.get(find, { bucket: `end-${i}` })) === null, failed.includes(i), `job ${i}`);
  });

  it("goes on after another instance has changed a table under prepared statements", async (t) => {
    const { db } = await openMigrated(t);
    const look = () => db.get(find, { bucket: "b" });
    const lookInside = () => db.transact((tx) => tx.get(find, { bucket: "b" }));
    const addColumn = (name: string) =>
      db.migrate((tx) => tx.script(`ALTER TABLE rate_window ADD COLUMN ${name} integer NOT NULL DEFAULT 7`));
    await db.run(insert, { bucket: "b" });
    await Promise.all([look(), look(), lookInside(), lookInside()]);
    await addColumn("one_more");
    const rows = await Promise.all([look(), look(), look()]);
    await addColumn("yet_another");
    rows.push(...(await Promise.all([lookInside(), lookInside(), lookInside()])));
    assert.ok(rows.every((row) => row !== null && "one_more" in row));
    assert.ok(rows.slice(3).every((row) => row !== null && "yet_another" in row));
  });

  it("is listened to again after the connection was lost", async (t) => {
    const { db, url } = await openMigrated(t);
    const heard = new Set<string>();
    await db.listen("channel", (message) => heard.add(message));
    await db.listen("other", (message) => heard.add(message));
    const another = openPostgres(url, { maxConnections: 1 });
    t.after(() => another.close());
    assert.ok(await another.get(endOthers, {}));
    while (!(heard.has("after") && heard.has("too"))) {
      await another.notify("channel", "after");
      await another.notify("other", "too");
      await wait(20);
    }
    await db.check();
  });

  it("may crash under load: answers are 201 or 503, and everything acknowledged is there", async (t) => {
    const postgres = await startPostgres();
    t.after(() => postgres.stop());
    const dataDir = await mkdtemp(join(tmpdir(), "upstow-crash-"));
    t.after(() => rm(dataDir, { recursive: true }));
    const app = await startApp({ database: "postgres", reuse: { dataDir, databaseUrl: postgres.url } });
    t.after(() => app.close());
    const { projectId, live: key } = app.owner;
    const acknowledged: string[] = [];
    let refused = 0;
    let isOver = false;
    const clients = Array.from({ length: 8 }, async (_, client) => {
      for (let i = 0; !isOver; i++) {
        const slug = `c${client}-${i}`;
        const answer = await app.call("POST", `projects/${projectId}/routers`, { key, body: { slug } });
        if (answer.status === 201) acknowledged.push(slug);
        else {
          expectError(answer, 503, "SERVICE_UNAVAILABLE");
          assert.ok(answer.headers.get("retry-after"));
          refused++;
        }
      }
    });
    for (let round = 1; round <= 2; round++) {
      await until(() => acknowledged.length >= round * 50);
      await postgres.restartImmediate();
      const before = acknowledged.length;
      await until(() => acknowledged.length >= before + 50);
    }
    isOver = true;
    await Promise.all(clients);
    assert.ok(refused > 0, "the crash was felt");
    const { routers } = (await app.call("GET", `projects/${projectId}/routers`, { key })).body;
    const slugs = new Set(routers.map((router: { slug: string }) => router.slug));
    assert.deepEqual(
      acknowledged.filter((slug) => !slugs.has(slug)),
      [],
    );
  });
});

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 10));
}
