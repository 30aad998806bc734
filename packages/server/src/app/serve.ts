import { execFile } from "node:child_process";
import { flushCompileCache } from "node:module";
import { stdout } from "node:process";
import { type Logger, pino } from "pino";
import { type App, createApp } from "../app.ts";
import { type Config, readConfig } from "../config.ts";
import { addressOf, checkAddress } from "../kernel/net/listen-address.ts";
import { explainFailure } from "./explain-failure.ts";
import { createLogOutput, createTerminalLog, type LogOutput, logFormat, styleWelcome } from "./log-output.ts";
import { keepShapes, trimMemorySoon } from "./v8-memory.ts";
import { describeService, findUnreachable, showFirstStart } from "./welcome.ts";

/** Runs the service until a signal ends it. */
async function serve(): Promise<void> {
  const config = await settlePort(readConfig(process.env));
  // Reading `stdout` above has made the descriptor of a pipe non-blocking.
  const output = createLogOutput(1);
  const logger = createLogger(config, output);
  for (const name of config.unknownVariables) {
    logger.warn({ variable: name }, "unknown variable; check its spelling");
  }
  process.on("exit", output.flush);
  const app = await createApp(config, { logger, droppedLogLines: output.dropped });
  const systemd = createSystemd(process.env);
  closeOnSignals(app, systemd);
  await app.listen();
  systemd.ready();
  showWelcome(config, app);
  const unreachable = findUnreachable(config);
  if (unreachable !== null) logger.warn(unreachable);
  flushCompileCache();
  keepShapes();
  trimMemorySoon();
}

/** Whether a person reads the output. Containers, journals and other programs get JSON. */
const isRead = stdout.isTTY === true && !process.argv.includes("--json");

const levelsWithRequests = ["info", "debug", "trace"];

function createLogger({ logLevel }: Config, output: LogOutput): Logger {
  const isQuiet = process.argv.includes("--quiet") && levelsWithRequests.includes(logLevel);
  const level = isQuiet ? "warn" : logLevel;
  return pino({ level, ...logFormat }, isRead ? createTerminalLog(stdout) : output);
}

function showWelcome(config: Config, { firstStart, deps }: App): void {
  const welcome = showFirstStart(config, firstStart);
  const areRequestsShown = levelsWithRequests.includes(deps.log.level);
  const more = describeService(config, { isFirstStart: firstStart !== null, areRequestsShown });
  console.log(isRead ? styleWelcome(`${welcome}\n${more}`, stdout) : welcome);
}

/** URLs contain the port, so a random one has to be picked before the first URL is created. */
async function settlePort(config: Config): Promise<Config> {
  if (config.port !== 0) return config;
  return readConfig({ ...process.env, UPSTOW_PORT: String(await checkAddress(addressOf(config))) });
}

/** Ctrl-C reaches us from the terminal and from npm, which passes on its own. */
const sameSignalMs = 1_000;

/** A second signal ends the process immediately. */
function closeOnSignals(app: App, systemd: Systemd): void {
  let firstAtMs: number | undefined;
  async function close(signal: NodeJS.Signals): Promise<void> {
    if (firstAtMs !== undefined) {
      if (performance.now() - firstAtMs > sameSignalMs) process.exit(1);
      return;
    }
    firstAtMs = performance.now();
    systemd.stopping();
    app.deps.log.info({ signal }, "finishing requests in flight");
    await app.close();
    process.exit(0);
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, close);
}

serve().catch((error: unknown) => {
  console.error(`upstow: ${explainFailure(error)}`);
  process.exit(1);
});

interface SystemdEnv {
  NOTIFY_SOCKET?: string | undefined;
  /** How long systemd waits for a sign of life, in microseconds. */
  WATCHDOG_USEC?: string | undefined;
}

interface Systemd {
  /** From here on it is told regularly that the event loop turns, if the unit has a watchdog. */
  ready(): void;
  stopping(): void;
}

/** Tells systemd the state of the service, through systemd's own command: Node has no datagram sockets for it. */
function createSystemd({ NOTIFY_SOCKET: socket, WATCHDOG_USEC: watchdogUs }: SystemdEnv): Systemd {
  // If the notification fails, systemd notices by itself.
  const tell = (message: string) =>
    void (socket === undefined || execFile("systemd-notify", ["--no-block", message], () => {}));
  return {
    ready() {
      tell("READY=1");
      const everyMs = Number(watchdogUs) / 2000;
      if (everyMs > 0) setInterval(tell, everyMs, "WATCHDOG=1").unref();
    },
    stopping: () => tell("STOPPING=1"),
  };
}
