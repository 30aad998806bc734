import assert from "node:assert/strict";
import { test } from "node:test";
import { type DayCounts, dayShares, daysUpTo } from "./usage-days.ts";

const row = (day: string, uploads: number, stored: number): DayCounts => ({
  day,
  uploads,
  bandwidth_bytes: uploads * 10,
  transform_units: 0,
  stored_bytes: stored,
});

test("days end with today, across months and leap days", () => {
  assert.deepEqual(daysUpTo(Date.UTC(2028, 2, 1, 23, 59), 3), ["2028-02-28", "2028-02-29", "2028-03-01"]);
});

test("a day gets what it has more than the last one that counted, and each month starts at nothing", () => {
  const rows = [row("2026-01-29", 5, 50), row("2026-01-31", 7, 40), row("2026-02-02", 3, 90)];
  const days = ["2026-01-28", "2026-01-29", "2026-01-30", "2026-01-31", "2026-02-01", "2026-02-02"];
  const shares = dayShares(days, rows);
  assert.deepEqual(
    shares.map((share) => [share.uploads, share.bandwidthBytes, share.storageBytes]),
    [
      [0, 0, 0],
      [5, 50, 50],
      [0, 0, 50],
      [2, 20, 40],
      [0, 0, 40],
      [3, 30, 90],
    ],
  );
});
