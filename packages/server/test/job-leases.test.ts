import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { pino } from "pino";
import { Registry } from "prom-client";
import { sql } from "#kysely";
import type { Database } from "../src/db/database.ts";
import { createJobLeases, type RunLeased } from "../src/db/job-leases.ts";
import { openPostgres } from "../src/db/postgres/postgres.ts";
import { statement } from "../src/db/statement.ts";
import { createBackground } from "../src/ops/background.ts";
import { createBackgroundMetrics } from "../src/ops/metrics.ts";
import { openTestDatabase, type TestDatabase } from "./support/open-database.ts";
import { onBothDatabases } from "./support/start-app.ts";

const hourMs = 3_600_000;
const never = new AbortController().signal;
const findLease = statement((q, p: { name: string }) =>
  q.selectFrom("job_lease").selectAll().where("name", "=", p.name),
);
const endLease = statement((q, p: { name: string }) =>
  q
    .updateTable("job_lease")
    .set({ held_until: sql.lit(0) })
    .where("name", "=", p.name),
);

describe("work that one of several instances does", () => {
  let opened: TestDatabase;
  let other: Database;
  let instances: [RunLeased, RunLeased];
  before(async () => {
    opened = await openTestDatabase("postgres");
    other = openPostgres(opened.place, { maxConnections: 2 });
    instances = [createJobLeases(opened.db), createJobLeases(other)];
  });
  after(async () => {
    await other.close();
    await opened.close();
  });

  it("is done once by all who try at the same time, and again when the lease is over", async () => {
    let done = 0;
    const work = async () => void done++;
    const tryAll = () =>
      Promise.all(
        Array.from({ length: 10 }, (_, i) => instances[i % 2 ? 0 : 1]("once", hourMs, work, never)),
      );
    await tryAll();
    await tryAll();
    assert.equal(done, 1);
    await opened.db.run(endLease, { name: "once" });
    await tryAll();
    assert.equal(done, 2);
    await instances[0]("another", hourMs, work, never);
    assert.equal(done, 3, "another job has its own lease");
  });

  it("can be tried at once by another where it failed", async () => {
    const fail = () => Promise.reject(new Error("no"));
    await assert.rejects(instances[0]("failing", hourMs, fail, never), /no/);
    let isDone = false;
    await instances[1](
      "failing",
      hourMs,
      async () => {
        isDone = true;
      },
      never,
    );
    assert.ok(isDone);
  });

  it("keeps its lease for as long as it takes", async () => {
    const heldUntil = async () => (await opened.db.get(findLease, { name: "long" }))?.held_until ?? 0;
    await instances[0](
      "long",
      3000,
      async () => {
        const first = await heldUntil();
        while ((await heldUntil()) <= first) await wait(50);
      },
      never,
    );
  });

  it("is told when another has the lease, whose token is a later one", async () => {
    const tokens: number[] = [];
    const noteToken = async () => {
      tokens.push((await opened.db.get(findLease, { name: "lost" }))?.token ?? 0);
    };
    await instances[0](
      "lost",
      3000,
      async (signal) => {
        await noteToken();
        await opened.db.run(endLease, { name: "lost" });
        await instances[1]("lost", hourMs, noteToken, never);
        if (!signal.aborted) await once(signal, "abort");
      },
      never,
    );
    assert.deepEqual(tokens, [1, 2]);
  });

  it("ends with the service", async () => {
    const closing = new AbortController();
    await instances[0](
      "closing",
      hourMs,
      async (signal) => {
        closing.abort();
        assert.ok(signal.aborted);
      },
      closing.signal,
    );
    const done: string[] = [];
    await instances[1]("closing", hourMs, async () => void done.push("closing"), never);
    assert.deepEqual(done, ["closing"], "what was cut short is due at once");
  });

  it("is free within minutes where the instance that did it died", async () => {
    await instances[0](
      "died",
      hourMs,
      async () => {
        const { held_until: until = Number.POSITIVE_INFINITY } =
          (await opened.db.get(findLease, { name: "died" })) ?? {};
        assert.ok(until - Date.now() <= 10 * 60_000);
      },
      never,
    );
  });
});

it("an embedded database has one instance, which notes only what a restart would put off for long", async (t) => {
  const opened = await openTestDatabase("sqlite");
  t.after(() => opened.close());
  const runLeased = createJobLeases(opened.db);
  let done = 0;
  const work = async () => void done++;
  for (let i = 0; i < 2; i++) await runLeased("often", 60_000, work, never);
  assert.equal(done, 2);
  assert.equal(await opened.db.get(findLease, { name: "often" }), null);
  for (let i = 0; i < 2; i++) await createJobLeases(opened.db)("rarely", hourMs, work, never);
  assert.equal(done, 3, "it is not due after a restart");
  await opened.db.run(endLease, { name: "rarely" });
  await runLeased("rarely", hourMs, work, never);
  assert.equal(done, 4);
});

onBothDatabases("hourly work", (kind) => {
  it("is looked for again and again, so that a process restarted more often does it too", async (t) => {
    const opened = await openTestDatabase(kind);
    t.after(() => opened.close());
    const done: string[] = [];
    /** A process that lives for a few looks, far less than an hour. */
    async function live(): Promise<void> {
      const background = createBackground(pino({ level: "silent" }), {
        runLeased: createJobLeases(opened.db),
        async runJob(name, work) {
          const result = await work();
          if (name === "sweep") looks++;
          return result;
        },
        metrics: createBackgroundMetrics(new Registry()),
        lookMs: 10,
      });
      let looks = 0;
      background.everyInOne(hourMs, "sweep", async () => void done.push("sweep"));
      while (looks < 3) await wait(10);
      await background.close();
    }
    await live();
    assert.deepEqual(done, ["sweep"]);
    await live();
    assert.deepEqual(done, ["sweep"], "not due yet");
    await opened.db.run(endLease, { name: "sweep" });
    await live();
    assert.deepEqual(done, ["sweep", "sweep"]);
  });
});
