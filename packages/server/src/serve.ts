import { flushCompileCache } from "node:module";
import { pino } from "pino";
import { type App, createApp } from "./app.ts";
import { ConfigError, readConfig } from "./config.ts";
import { trimMemorySoon } from "./trim-memory.ts";
import { welcome } from "./welcome.ts";

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
function explainFailure(error: unknown, port: number | undefined): string {
  if (error instanceof ConfigError) return error.message;
  if ((error as NodeJS.ErrnoException)?.code === "EADDRINUSE") {
    return `UPSTOW_PORT ${port ?? ""} is taken by another program; stop it or choose another port`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

serve().catch((error: unknown) => {
  console.error(`upstow: ${explainFailure(error, (error as { port?: number })?.port)}`);
  process.exit(1);
});
