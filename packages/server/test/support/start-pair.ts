import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type StartOptions, startApp, type TestApp } from "./start-app.ts";

/** Two instances on one PostgreSQL; the first one has the owner. */
export async function startPair(
  options: Omit<StartOptions, "database" | "reuse"> = {},
): Promise<{ apps: [TestApp, TestApp]; close(): Promise<void> }> {
  const env = { UPSTOW_SECRET: "one secret that every instance knows", ...options.env };
  const first = await startApp({ ...options, database: "postgres", env });
  const dataDir = await mkdtemp(join(tmpdir(), "upstow-second-"));
  const reuse = { dataDir, databaseUrl: first.databaseUrl ?? "" };
  const second = await startApp({ ...options, database: "postgres", env, reuse });
  return {
    apps: [first, second],
    async close() {
      await second.close();
      await first.close();
      await rm(dataDir, { recursive: true });
    },
  };
}
