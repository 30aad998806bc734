import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KB } from "@upstow/contract";
import { createFairTurns } from "../../kernel/fair-turns.ts";
import { type Budget, dashboardBudget, lookThrough, type Span, stretchLimits } from "../look-through.ts";

/** Rows of these sizes, the newest last, and the stretches that a search reads of them. */
async function readAll(
  sizes: number[],
  isEnough: (rows: number) => boolean = () => false,
  now: () => number = () => 0,
  budget: Budget = dashboardBudget,
  isDropped = false,
) {
  const ids = sizes.map((_, i) => String(i).padStart(26, "0"));
  const rowsIn = ({ from, before }: Span) =>
    ids.slice(Number(from), before === "~" ? undefined : Number(before));
  const bytesOf = (some: string[]) => some.reduce((sum, id) => sum + (sizes[Number(id)] ?? 0), 0);
  const stretches: { rows: number; bytes: number }[] = [];
  const scannedTo = await lookThrough(
    {
      dialect: "sqlite",
      turns: createFairTurns(),
      accountId: "a",
      budget,
      async measure({ rows, ...span }) {
        const newest = rowsIn(span).slice(-rows);
        return { id: newest[0] ?? null, count: newest.length, bytes: bytesOf(newest) };
      },
      async read(stretch) {
        const rows = rowsIn(stretch);
        stretches.push({ rows: rows.length, bytes: bytesOf(rows) });
        return { isEnough: isEnough(rows.length), dropped: isDropped ? rows.length : 0 };
      },
    },
    { from: "", before: "~" },
    now,
  );
  return { stretches, scannedTo, seen: stretches.reduce((sum, { rows }) => sum + rows, 0) };
}

describe("a search stretch", () => {
  const { rows: mostRows, bytes: mostBytes } = stretchLimits.sqlite;

  it("holds no more than the rows and bytes that it may", async () => {
    const sizes = Array.from({ length: 6_000 }, (_, i) => (i % 2_000 < 300 ? 16 * KB : 20));
    const { stretches, scannedTo, seen } = await readAll(sizes);
    assert.equal(seen, sizes.length);
    assert.equal(scannedTo, null);
    assert.deepEqual(
      stretches.filter(({ rows, bytes }) => rows > mostRows || bytes > mostBytes),
      [],
    );
    assert.ok(
      stretches.some(({ rows }) => rows > 400),
      "light rows are read many at a time",
    );
  });

  it("holds one row where that alone is too large", async () => {
    const { stretches, seen } = await readAll([10, mostBytes * 3, mostBytes * 3, 10]);
    assert.equal(seen, 4);
    assert.ok(stretches.every(({ rows, bytes }) => rows === 1 || bytes <= mostBytes));
  });

  it("is the last where enough was found, and of an empty span too", async () => {
    const { stretches, scannedTo } = await readAll(new Array(2_000).fill(1), () => true);
    assert.deepEqual([stretches.length, scannedTo], [1, null]);
    assert.deepEqual((await readAll([])).seen, 0);
  });

  it("ends a request after 200,000 rows, with the id to continue below", async () => {
    const { scannedTo, seen } = await readAll(new Array(201_000).fill(0));
    assert.ok(seen === 200_000 && Number(scannedTo) === 1_000, `${seen} ${scannedTo}`);
  });
});

describe("a search request", () => {
  it("ends with the id to continue below when its time is up, after one stretch at least", async () => {
    let timeMs = 0;
    const slow = () => {
      timeMs += 4_000;
      return timeMs;
    };
    const { stretches, scannedTo } = await readAll(new Array(2_000).fill(0), () => false, slow);
    assert.deepEqual([stretches.length, Number(scannedTo)], [2, 1_000]);
  });

  it("reads exactly the rows of its budget, and at most its bytes and one row more", async () => {
    const small = { ...dashboardBudget, rows: 1_234 };
    const some = await readAll(new Array(2_000).fill(0), undefined, undefined, small);
    assert.deepEqual([some.seen, Number(some.scannedTo)], [1_234, 766]);
    const light = { ...dashboardBudget, bytes: 1_000 };
    for (const [size, rows] of [
      [10, 100],
      [300, 4],
      [5_000, 1],
    ] as const) {
      const { seen, scannedTo } = await readAll(new Array(2_000).fill(size), undefined, undefined, light);
      assert.ok(seen > 0 && seen <= rows && Number(scannedTo) === 2_000 - seen, `${size}: ${seen}`);
    }
  });

  it("reads fewer rows where they come out of the database in vain", async () => {
    const small = { ...dashboardBudget, rows: 10_000 };
    const { stretches } = await readAll(new Array(20_000).fill(0), undefined, undefined, small, true);
    const seen = stretches.reduce((sum, { rows }) => sum + rows, 0);
    assert.ok(seen > 1_000 && seen <= 10_000 / 9 + 1, `${seen}`);
  });
});
