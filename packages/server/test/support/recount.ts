import assert from "node:assert/strict";
import { statement } from "../../src/db/statement.ts";
import { periodRows, totalRows } from "../../src/projects/usage/shares.ts";
import type { TestApp } from "./start-app.ts";

const listRows = statement((q, p: { projectId: string }) =>
  q
    .selectFrom("file")
    .select(["environment", "status", "size_bytes", "reserved_period", "store", "purge_at"])
    .where("project_id", "=", p.projectId),
);
const listTotals = statement((q, p: { projectId: string }, dialect) =>
  q.selectFrom(totalRows(dialect).as("total")).selectAll().where("project_id", "=", p.projectId),
);
const listPeriods = statement((q, p: { projectId: string }, dialect) =>
  q.selectFrom(periodRows(dialect).as("month")).selectAll().where("project_id", "=", p.projectId),
);
const countDeletions = statement((q, _: object) =>
  q.selectFrom("storage_deletion").select((e) => e.fn.countAll<number>().as("count")),
);

interface Count {
  stored: number;
  reserved: number;
  reservedUploads: number;
}

const countOf = (environment: string, counts: Map<string, Count>): Count => {
  const count = counts.get(environment) ?? { stored: 0, reserved: 0, reservedUploads: 0 };
  counts.set(environment, count);
  return count;
};

/** The counters must say what a recount of the rows says; `uploads` is how many completions each saw. */
export async function assertCountersMatch(
  app: TestApp,
  projectId: string,
  uploads: { live?: number; test?: number } = {},
): Promise<void> {
  const { db } = app.app.deps;
  const expected = new Map<string, Count>();
  for (const row of await db.all(listRows, { projectId })) {
    const count = countOf(row.environment, expected);
    // Bytes in a customer's bucket are theirs.
    const sizeBytes = row.store === app.app.deps.store.name ? row.size_bytes : 0;
    if (row.status === "UPLOADED" || row.purge_at !== null) count.stored += sizeBytes;
    if (row.status !== "UPLOADING") continue;
    count.reserved += sizeBytes;
    count.reservedUploads++;
  }
  const counted = new Map<string, Count>();
  for (const row of await db.all(listTotals, { projectId })) {
    const count = countOf(row.environment, counted);
    count.stored += row.stored_bytes;
    count.reserved += row.reserved_bytes;
  }
  const finished = new Map<string, number>();
  for (const row of await db.all(listPeriods, { projectId })) {
    countOf(row.environment, counted).reservedUploads += row.reserved_uploads;
    finished.set(row.environment, (finished.get(row.environment) ?? 0) + row.uploads);
  }
  for (const environment of ["live", "test"] as const) {
    assert.deepEqual(countOf(environment, counted), countOf(environment, expected), environment);
    const wanted = uploads[environment];
    if (wanted !== undefined) assert.equal(finished.get(environment) ?? 0, wanted, `${environment} uploads`);
  }
}

/** Waits until the bytes of all ended files are gone. */
export async function deletionsDone(app: TestApp): Promise<void> {
  for (;;) {
    const row = await app.app.deps.db.get(countDeletions, {});
    if (Number(row?.count) === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
