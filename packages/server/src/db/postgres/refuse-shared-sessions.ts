import pg from "pg";
import { DatabaseUnavailable } from "../database.ts";
import { connect, sendOver } from "./connections.ts";

const rounds = 3;

/**
 * A pooler may give every transaction another connection. Prepared statements, time limits, locks and notifications
 * belong to a connection, so nearly everything would fail later, and some of it silently.
 */
export async function refuseSharedSessions(url: string, client: pg.Client): Promise<void> {
  // Without a pooler, the server names the process that it told us when we connected.
  const pid = await findPid(client);
  if (pid === (client as unknown as { processID: number }).processID) return;
  const other = await connect(url);
  try {
    for (let round = 0; round < rounds; round++) {
      if (await isShared(client, other)) throw refusal();
    }
  } finally {
    await other.end();
  }
}

/** While both are connected, two sessions have two connections and keep them. */
async function isShared(client: pg.Client, other: pg.Client): Promise<boolean> {
  const before = await findPid(client);
  const send = sendOver(other);
  try {
    await send({ text: "BEGIN" });
  } catch (error) {
    const { cause } = error as Error;
    // A pooler that shares single statements allows no transactions.
    throw cause instanceof pg.DatabaseError || error instanceof pg.DatabaseError ? refusal() : error;
  }
  const taken = await findPid(other);
  const after = await findPid(client);
  await send({ text: "COMMIT" });
  return taken === before || after !== before;
}

async function findPid(client: pg.Client): Promise<number> {
  const { rows } = await sendOver(client)({ text: "SELECT pg_backend_pid() AS pid" });
  return rows[0].pid;
}

function refusal(): DatabaseUnavailable {
  return new DatabaseUnavailable(
    "the pooler shares connections between sessions (PgBouncer's transaction or statement mode); use session mode or a direct connection",
  );
}
