import { setTimeout as wait } from "node:timers/promises";
import { firstIdAt } from "../../kernel/ids.ts";
import { connect, type Send, sendOver } from "./connections.ts";
import { isLockTimeout } from "./errors.ts";
import { inTransaction } from "./transactions.ts";

/** Everyone who needs the table waits behind a statement that waits for it. */
const lockMs = 1_000;
const lockPauseMs = 2_000;
const lockAttempts = 30;
const monthsAhead = 3;

/**
 * Divides a table by the month of its ids, which begin with their time, and adds the months to come. A table that
 * exists becomes the first partition unchanged: its rows are checked while others write, and only the renaming locks it.
 * Rows of months without a partition go to a default one.
 */
export async function keepPartitions(url: string, table: string, key: string[], now: number): Promise<void> {
  await withOwnConnection(url, async (send) => {
    if (!(await isPartitioned(send, table))) await divide(send, table, key, firstIdAt(monthStart(now, 2)));
    const ends = (await listPartitions(send, table)).flatMap(({ end }) => end ?? []);
    for (let month = 0; month <= monthsAhead; month++) {
      const to = firstIdAt(monthStart(now, month + 1));
      if (ends.some((end) => end >= to)) continue;
      await addPartition(send, table, nameOf(table, monthStart(now, month)), [
        firstIdAt(monthStart(now, month)),
        to,
      ]);
    }
  });
}

/** Drops the partitions in which every id is before this one. Returns how many. */
export async function dropPartitions(url: string, table: string, beforeId: string): Promise<number> {
  return withOwnConnection(url, async (send) => {
    const over = (await listPartitions(send, table)).filter(({ end }) => end !== null && end <= beforeId);
    for (const { name } of over) await whenFree(send, [`DROP TABLE ${name}`]);
    return over.length;
  });
}

async function divide(send: Send, table: string, key: string[], end: string): Promise<void> {
  const [first, rest, bound] = [`${table}_before`, `${table}_rest`, `${table}_bound`];
  // One that was left by an interrupted attempt may be about to reject new rows.
  const unbind = `ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS ${bound}`;
  await whenFree(send, [
    unbind,
    `ALTER TABLE ${table} ADD CONSTRAINT ${bound} CHECK (id < '${end}') NOT VALID`,
  ]);
  try {
    await send({ text: `ALTER TABLE ${table} VALIDATE CONSTRAINT ${bound}` });
    await whenFree(send, [
      `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`,
      () => refuseTriggers(send, table),
      `ALTER TABLE ${table} RENAME TO ${first}`,
      `ALTER INDEX ${table}_pkey RENAME TO ${first}_pkey`,
      `CREATE TABLE ${table} (LIKE ${first} INCLUDING DEFAULTS, PRIMARY KEY (${key.join(", ")})) PARTITION BY RANGE (id)`,
      // The constraint proves that every row belongs there, so none is read.
      `ALTER TABLE ${table} ATTACH PARTITION ${first} FOR VALUES FROM (MINVALUE) TO ('${end}')`,
      `ALTER TABLE ${first} DROP CONSTRAINT ${bound}`,
      `CREATE TABLE ${rest} PARTITION OF ${table} DEFAULT`,
    ]);
  } catch (error) {
    await whenFree(send, [unbind]);
    throw error;
  }
}

/** Attached rather than created in place, because that does not lock out writers. */
async function addPartition(
  send: Send,
  table: string,
  name: string,
  [from, to]: [string, string],
): Promise<void> {
  await whenFree(send, [
    `CREATE TABLE ${name} (LIKE ${table} INCLUDING DEFAULTS)`,
    `WITH moved AS (DELETE FROM ${table}_rest WHERE id >= '${from}' AND id < '${to}' RETURNING *)
      INSERT INTO ${name} SELECT * FROM moved`,
    `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`,
  ]);
}

async function isPartitioned(send: Send, table: string): Promise<boolean> {
  const { rows } = await send({
    text: "SELECT relkind FROM pg_class WHERE oid = $1::regclass",
    values: [table],
  });
  return rows[0].relkind === "p";
}

/** `end` is the first id after a partition; null for the one that has the rest. */
async function listPartitions(send: Send, table: string): Promise<{ name: string; end: string | null }[]> {
  const { rows } = await send({
    text: `SELECT relname AS name, substring(pg_get_expr(relpartbound, pg_class.oid) from $$TO \\('(\\w+)'\\)$$) AS end
      FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = $1::regclass`,
    values: [table],
  });
  return rows;
}

/** Triggers make a table read-only while the installation is moved, and would not move along. */
async function refuseTriggers(send: Send, table: string): Promise<void> {
  const text = "SELECT FROM pg_trigger WHERE tgrelid = $1::regclass";
  const { rows } = await send({ text, values: [table] });
  if (rows.length > 0) throw new Error(`${table} has triggers, so it cannot be divided`);
}

/** In one transaction, which waits for no lock for long and tries again. */
export async function whenFree(send: Send, steps: (string | (() => Promise<void>))[]): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(send, async () => {
        await send({ text: `SET LOCAL lock_timeout = ${lockMs}` });
        for (const step of steps) await (typeof step === "string" ? send({ text: step }) : step());
      });
    } catch (error) {
      if (!isLockTimeout(error) || attempt === lockAttempts) throw error;
      await wait(lockPauseMs);
    }
  }
}

/** Without the pool's time limits: rows may have to be checked for minutes. */
async function withOwnConnection<T>(url: string, work: (send: Send) => Promise<T>): Promise<T> {
  const client = await connect(url, null);
  try {
    return await work(sendOver(client));
  } finally {
    await client.end();
  }
}

function monthStart(now: number, monthsLater: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + monthsLater);
}

function nameOf(table: string, startsAt: number): string {
  return `${table}_${new Date(startsAt).toISOString().slice(0, 7).replace("-", "_")}`;
}
