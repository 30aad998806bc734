import { setTimeout as wait } from "node:timers/promises";
import type { IndexDefinition } from "../database.ts";
import { connect, type Send, sendOver } from "./connections.ts";

const buildLock = 7_316_204_912;
const pauseMs = 500;

/**
 * Builds what is missing while others go on writing to the tables, which takes several transactions. A build that was
 * interrupted leaves an index that nobody uses; it is removed and built again.
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
    // A build waits for every open transaction, so nobody may wait for it within one.
    while (!(await hasTakenLock(sendAlone))) await wait(pauseMs);
    for (const { name, sql } of await listMissing(sendAlone, definitions)) {
      await sendAlone({ text: `DROP INDEX CONCURRENTLY IF EXISTS ${name}` });
      await sendAlone({ text: sql.replace("CREATE INDEX", "CREATE INDEX CONCURRENTLY") });
    }
  } finally {
    await client.end();
  }
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
