import { sql } from "#kysely";
import type { Database } from "../../src/db/database.ts";
import type { FileRow } from "../../src/db/schema.ts";
import { statement } from "../../src/db/statement.ts";
import { createId } from "../../src/kernel/ids.ts";

const columns = [
  "id",
  "key",
  "project_id",
  "environment",
  "route_slug",
  "name",
  "size_bytes",
  "type",
  "status",
  "metadata",
  "etag",
  "store",
  "reap_at",
  "created_at",
  "updated_at",
  "completed_at",
  "image",
] as const;
type Row = Pick<FileRow, (typeof columns)[number]>;

const numbers = new Set<string>(["size_bytes", "reap_at", "created_at", "updated_at", "completed_at"]);

/** Rows as one JSON text: a hundred thousand of them one by one would take longer than the test. */
const insertRows = statement((q, p: { rowsJson: string }, dialect) => {
  const value = (column: string) =>
    dialect === "sqlite"
      ? sql`value ->> ${sql.lit(column)}`
      : sql`cast(value ->> ${sql.lit(column)} as ${sql.raw(numbers.has(column) ? "bigint" : "text")})`;
  const rows =
    dialect === "sqlite"
      ? sql`json_each(${p.rowsJson})`
      : sql`jsonb_array_elements(cast(cast(${p.rowsJson} as text) as jsonb))`;
  return q
    .insertInto("file")
    .columns(columns)
    .expression(sql`select ${sql.join(columns.map(value))} from ${rows} where true`);
});

const addStored = statement((q, p: { projectId: string; sizeBytes: number }) =>
  q
    .updateTable("usage_total")
    .set({ stored_bytes: sql`stored_bytes + ${p.sizeBytes}` })
    .where("project_id", "=", p.projectId)
    .where("environment", "=", "live"),
);

const kinds = [
  ["jpg", "image/jpeg", "photos"],
  ["mp4", "video/mp4", "clips"],
  ["pdf", "application/pdf", "invoices"],
  ["txt", "text/plain", "default"],
] as const;
const batch = 5_000;

export interface ManyFilesOptions {
  projectId: string;
  count: number;
  /** Called with the number of each file, from 0 for the oldest. */
  describe?: (index: number) => Partial<Row>;
}

/** What is needed of a running app, so that a database alone will do. */
interface Place {
  app: { deps: { db: Database } };
  clock: { now(): number };
}

/** Finished files, a second apart, the newest a second ago. They count as stored, but there are no bytes behind them. */
export async function insertManyFiles(app: Place, options: ManyFilesOptions): Promise<void> {
  const { projectId, count, describe = () => ({}) } = options;
  const { db } = app.app.deps;
  const start = app.clock.now() - count * 1000;
  for (let from = 0; from < count; from += batch) {
    const rows = Array.from({ length: Math.min(batch, count - from) }, (_, i) =>
      createRow(projectId, from + i, start, describe(from + i)),
    );
    const sizeBytes = rows.reduce((sum, row) => sum + row.size_bytes, 0);
    await db.transact(async (tx) => {
      await tx.run(insertRows, { rowsJson: JSON.stringify(rows) });
      await tx.run(addStored, { projectId, sizeBytes });
    });
  }
}

function createRow(projectId: string, index: number, start: number, given: Partial<Row>): Row {
  const at = start + index * 1000;
  const id = createId(at);
  const [extension, type, route] = kinds[index % kinds.length] ?? kinds[0];
  const name = given.name ?? `upload-${String(index).padStart(6, "0")}.${extension}`;
  return {
    id,
    key: `${projectId}/${route}/${id}/${name}`,
    project_id: projectId,
    environment: "live",
    route_slug: route,
    name,
    size_bytes: 1000 + index,
    type,
    status: "UPLOADED",
    metadata: JSON.stringify({ userId: `user-${index % 977}`, album: `album-${index % 31}`, index }),
    etag: "0",
    store: "disk",
    reap_at: at,
    created_at: at,
    updated_at: at,
    completed_at: at,
    image: null,
    ...given,
  };
}
