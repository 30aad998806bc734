import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "#kysely";
import type { Database } from "../src/db/database.ts";
import { createJobLeases, type RunLeased } from "../src/db/job-leases.ts";
import { openPostgres } from "../src/db/postgres/postgres.ts";
import { statement } from "../src/db/statement.ts";
import { openTestDatabase, type TestDatabase } from "./support/open-database.ts";

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
  });
});

it("an embedded database has one instance, which asks nobody", async (t) => {
  const opened = await openTestDatabase("sqlite");
  t.after(() => opened.close());
  const runLeased = createJobLeases(opened.db);
  let done = 0;
  for (let i = 0; i < 2; i++) await runLeased("alone", hourMs, async () => void done++, never);
  assert.equal(done, 2);
  assert.equal(await opened.db.get(findLease, { name: "alone" }), null);
});
