import { flushCompileCache } from "node:module";
import { pino } from "pino";
import { DataDirInUse } from "./adapters/disk-store/index.ts";
import { type App, createApp } from "./app.ts";
import { ConfigError, readConfig } from "./config.ts";
import { DatabaseUnavailable, NewerDatabase } from "./db/database.ts";
import { keepShapes } from "./keep-shapes.ts";
import { StorageUnavailable } from "./ports/object-store.ts";
import { trimMemorySoon } from "./trim-memory.ts";
import { welcome } from "./welcome.ts";

const operatorErrors = [ConfigError, DataDirInUse, NewerDatabase, StorageUnavailable];

/** Runs the service until a signal ends it. */
async function serve(): Promise<void> {
  const config = readConfig(process.env);
  const logger = pino({ level: config.logLevel });
  for (const name of config.unknownVariables) {
    logger.warn({ variable: name }, "this variable means nothing to Upstow; check its spelling");
  }
  const app = await createApp(config, { logger });
  closeOnSignals(app);
  await app.listen();
  console.log(welcome(config, app.firstStart));
  flushCompileCache();
  keepShapes();
  trimMemorySoon();
}

function closeOnSignals(app: App): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, async () => {
      app.deps.log.info({ signal }, "finishing what is in flight");
      await app.close();
      process.exit(0);
    });
  }
}

/** What the operator has to mend is one line; anything else is ours and keeps its stack. */
function explainFailure(error: unknown): string {
  const { code, port, address, hostname } = error as NodeJS.ErrnoException & Record<string, unknown>;
  if (code === "EADDRINUSE")
    return `UPSTOW_PORT ${port} is taken by another program; stop it or choose another port`;
  if (code === "EACCES" && port !== undefined) return `UPSTOW_PORT ${port} needs rights that this user lacks`;
  if (code === "EADDRNOTAVAIL" || (code === "EINVAL" && address !== undefined))
    return `UPSTOW_HOST ${address} is not an address of this machine`;
  if (code === "ENOTFOUND") return `UPSTOW_HOST ${hostname} does not resolve`;
  if (error instanceof DatabaseUnavailable)
    return `${error.message}; check UPSTOW_DATABASE_URL and UPSTOW_DATA_DIR`;
  if (operatorErrors.some((kind) => error instanceof kind)) return (error as Error).message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

serve().catch((error: unknown) => {
  console.error(`upstow: ${explainFailure(error)}`);
  process.exit(1);
});
