import { setTimeout as wait } from "node:timers/promises";
import type { IndexDefinition } from "../database.ts";
import { connect, type Send, sendOver } from "./connections.ts";
import { whenFree } from "./partitions.ts";

const buildLock = 7_316_204_912;
const pauseMs = 500;

/**
 * Builds missing indexes while others write to the tables, which takes several transactions. An interrupted build leaves
 * an unused index; it is removed and built again.
 */
export async function buildIndexes(
  url: string,
  send: Send,
  definitions: readonly IndexDefinition[],
): Promise<void> {
  if ((await listMissing(send, definitions)).length === 0) return;
  const client = await connect(url, null);
  const sendAlone = sendOver(client);
  try {
    // A build waits for every open transaction, so no transaction may wait for the build.
    while (!(await hasTakenLock(sendAlone))) await wait(pauseMs);
    for (const { name, sql } of await listMissing(sendAlone, definitions)) {
      const [, table = "", columns = ""] = /^CREATE INDEX \w+ ON (\w+) (.*)$/.exec(sql) ?? [];
      await build(sendAlone, name, table, columns);
    }
  } finally {
    await client.end();
  }
}

/**
 * PostgreSQL cannot build the index of a partitioned table concurrently, so each partition gets its own first. The table's
 * index becomes valid with the last of them. An interrupted build continues with the partitions that are missing.
 */
async function build(send: Send, name: string, table: string, columns: string): Promise<void> {
  const partitions = await listPartitionsWithout(send, name, table);
  if (partitions === null) {
    await send({ text: `DROP INDEX CONCURRENTLY IF EXISTS ${name}` });
    await send({ text: `CREATE INDEX CONCURRENTLY ${name} ON ${table} ${columns}` });
    return;
  }
  await whenFree(send, [`CREATE INDEX IF NOT EXISTS ${name} ON ONLY ${table} ${columns}`]);
  for (const partition of partitions) {
    const itsName = `${name}_${partition.oid}`;
    await build(send, itsName, partition.name, columns);
    await whenFree(send, [`ALTER INDEX ${name} ATTACH PARTITION ${itsName}`]);
  }
}

/** Null if the table is not partitioned. */
async function listPartitionsWithout(
  send: Send,
  index: string,
  table: string,
): Promise<{ oid: number; name: string }[] | null> {
  const values = [table];
  const whole = await send({
    text: "SELECT FROM pg_class WHERE oid = $1::regclass AND relkind = 'p'",
    values,
  });
  if (whole.rowCount === 0) return null;
  const { rows } = await send({
    text: `SELECT inhrelid::int AS oid, inhrelid::regclass::text AS name FROM pg_inherits
      WHERE inhparent = $1::regclass AND inhrelid NOT IN (SELECT indrelid FROM pg_index JOIN pg_inherits attached
        ON attached.inhrelid = indexrelid WHERE attached.inhparent = to_regclass($2))`,
    values: [table, index],
  });
  return rows;
}

async function hasTakenLock(send: Send): Promise<boolean> {
  const { rows } = await send({ text: `SELECT pg_try_advisory_lock(${buildLock}) AS taken` });
  return rows[0].taken;
}

async function listMissing(send: Send, definitions: readonly IndexDefinition[]): Promise<IndexDefinition[]> {
  const { rows } = await send({
    text: `SELECT relname FROM pg_class JOIN pg_index ON indexrelid = pg_class.oid
      WHERE relname = any($1) AND indisvalid AND relnamespace = current_schema()::regnamespace`,
    values: [definitions.map(({ name }) => name)],
  });
  const valid = new Set(rows.map(({ relname }) => relname));
  return definitions.filter(({ name }) => !valid.has(name));
}
