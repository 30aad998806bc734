import { type DatabaseKind, startApp, type TestApp } from "../packages/server/test/support/start-app.ts";
import type { Random } from "./random.ts";

/** A whole service in this process, without rate limits, on the database that the seed picks. */
export async function withApp<T>(
  random: Random,
  work: (app: TestApp, database: DatabaseKind) => Promise<T>,
  env: Record<string, string> = {},
): Promise<T> {
  const database = random.chance(0.5) ? "sqlite" : "postgres";
  const app = await startApp({ database, env });
  try {
    return await work(app, database);
  } finally {
    await app.close();
  }
}

/** Calls `work` from 0 to `count`, a few at a time. */
export async function inParallel(
  count: number,
  lanes: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const act = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(lanes, count) }, act));
}
