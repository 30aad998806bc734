import { flushCompileCache } from "node:module";
import { pino } from "pino";
import { type App, createApp } from "./app.ts";
import { type Config, readConfig } from "./config.ts";
import { explainFailure } from "./explain-failure.ts";
import { keepShapes } from "./keep-shapes.ts";
import { addressOf, checkAddress } from "./net/listen-address.ts";
import { showFirstStart } from "./show-first-start.ts";
import { trimMemorySoon } from "./trim-memory.ts";

/** Runs the service until a signal ends it. */
async function serve(): Promise<void> {
  const config = await settlePort(readConfig(process.env));
  const logger = pino({ level: config.logLevel });
  for (const name of config.unknownVariables) {
    logger.warn({ variable: name }, "this variable means nothing to Upstow; check its spelling");
  }
  const app = await createApp(config, { logger });
  closeOnSignals(app);
  await app.listen();
  console.log(showFirstStart(config, app.firstStart));
  flushCompileCache();
  keepShapes();
  trimMemorySoon();
}

/** URLs bear the port, so one that may be any has to be known before the first of them is made. */
async function settlePort(config: Config): Promise<Config> {
  if (config.port !== 0) return config;
  return readConfig({ ...process.env, UPSTOW_PORT: String(await checkAddress(addressOf(config))) });
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

serve().catch((error: unknown) => {
  console.error(`upstow: ${explainFailure(error)}`);
  process.exit(1);
});
