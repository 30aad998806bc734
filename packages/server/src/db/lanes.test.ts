import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import type { Queryable } from "./database.ts";
import { createLanes, doEachTogether } from "./lanes.ts";

describe("lanes", () => {
  it("do together what arrives while one call is under way, and give each its own result", async () => {
    const batches: number[][] = [];
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const double = createLanes<number, number>(async (jobs) => {
      batches.push(jobs);
      await held;
      return jobs.map((job) => job * 2);
    });
    const early = [double("a", 1), double("a", 2)];
    while (batches.length === 0) await wait(0);
    const late = [double("a", 3), double("a", 4), double("a", 5)];
    release();
    assert.deepEqual(await Promise.all([...early, ...late]), [2, 4, 6, 8, 10]);
    assert.deepEqual(batches, [
      [1, 2],
      [3, 4, 5],
    ]);
  });

  it("do not wait for another lane", async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const echo = createLanes<string, string>(async (jobs, lane) => {
      if (lane === "slow") await held;
      return jobs;
    });
    const slow = echo("slow", "first");
    assert.equal(await echo("fast", "second"), "second");
    release();
    assert.equal(await slow, "first");
  });

  it("start a second call once enough wait for the first, but no third", async () => {
    const batches: number[][] = [];
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const echo = createLanes<number, number>(
      async (jobs) => {
        batches.push(jobs);
        await held;
        return jobs;
      },
      () => Number.POSITIVE_INFINITY,
      2,
    );
    const results: Promise<number>[] = [];
    const send = async (...jobs: number[]) => {
      results.push(...jobs.map((job) => echo("a", job)));
      await nextTurn();
    };
    await send(1);
    await send(2);
    assert.deepEqual(batches, [[1]]);
    await send(3);
    assert.deepEqual(batches, [[1], [2, 3]]);
    await send(4, 5, 6);
    assert.deepEqual(batches, [[1], [2, 3]]);
    release();
    assert.deepEqual(await Promise.all(results), [1, 2, 3, 4, 5, 6]);
    assert.deepEqual(batches, [[1], [2, 3], [4, 5, 6]]);
  });

  it("take no more together than they may, fail together, and go on afterwards", async () => {
    const sizes: number[] = [];
    const fail = createLanes<number, number>(
      async (jobs) => {
        sizes.push(jobs.length);
        if (jobs.includes(0)) throw new Error("zero");
        return jobs;
      },
      () => 2,
    );
    const outcomes = await Promise.allSettled([0, 1, 2].map((job) => fail("a", job)));
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["rejected", "rejected", "fulfilled"],
    );
    assert.deepEqual(sizes, [2, 1]);
    assert.equal(await fail("a", 7), 7);
  });
});

describe("jobs done together in a transaction", () => {
  const transaction = () => ({}) as Queryable;

  it("get their own rows, and of those with one id only the first is done", async () => {
    const batches: string[][] = [];
    const take = doEachTogether<{ id: string }, { id: string }>(async (_tx, jobs) => {
      batches.push(jobs.map(({ id }) => id));
      return [{ id: "b" }, { id: "a" }];
    });
    const [tx, other] = [transaction(), transaction()];
    const rows = await Promise.all([
      ...["a", "b", "a", "gone"].map((id) => take(tx, "all", { id })),
      take(tx, "named differently", { id: "a" }),
      take(other, "all", { id: "a" }),
    ]);
    assert.deepEqual(
      rows.map((row) => row?.id ?? null),
      ["a", "b", null, null, "a", "a"],
    );
    assert.deepEqual(batches, [["a", "b", "gone"], ["a"], ["a"]]);
    assert.deepEqual(await take(tx, "all", { id: "b" }), { id: "b" }, "a later job starts anew");
  });
});
