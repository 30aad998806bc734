import { existsSync } from "node:fs";
import { chown, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pickFreePort } from "../../test/support/free-port.ts";
import {
  getPostgresBinaries,
  getServerAccount,
  runPostgresProgram,
} from "../../test/support/postgres-binaries.ts";

export interface KeptPostgres {
  url: string;
  /** Ends the server; its data stays. */
  stop(): Promise<void>;
  remove(): Promise<void>;
}

/**
 * A PostgreSQL whose data outlives the command, with the settings that it comes with and fsync on: filling it takes
 * long, and a run that was cut short goes on with what is there.
 */
export async function startKeptPostgres(folder: string): Promise<KeptPostgres> {
  const account = getServerAccount();
  await mkdir(folder, { recursive: true });
  if (account.uid !== undefined && account.gid !== undefined) await chown(folder, account.uid, account.gid);
  const { initdb, pgCtl } = await getPostgresBinaries(folder, account);
  const dataDir = join(folder, "data");
  const logFile = join(folder, "log");
  const options = { ...account, cwd: folder, logFile };
  const control = (...args: string[]) =>
    runPostgresProgram(pgCtl, ["-D", dataDir, "-l", logFile, "-t", "600", "-w", ...args], options);
  if (!existsSync(join(dataDir, "PG_VERSION"))) {
    // Nobody but this machine reaches the port, and nothing in here is anybody's.
    const access = ["--auth=trust", "-U", "postgres", "--encoding=UTF8", "--locale=C"];
    await runPostgresProgram(initdb, ["-D", dataDir, ...access], options);
  }
  if (await isRunning(dataDir)) await control("-m", "fast", "stop");
  const port = await pickFreePort();
  await control("-o", `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`, "start");
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: () => control("-m", "fast", "stop"),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** One that a killed run has left behind. */
async function isRunning(dataDir: string): Promise<boolean> {
  const text = await readFile(join(dataDir, "postmaster.pid"), "utf8").catch(() => null);
  return text !== null && existsSync(`/proc/${text.split("\n", 1)[0]}`);
}

/** What has been measured so far, beside the data that it was measured on. */
export async function readProgress<T>(folder: string, otherwise: T): Promise<T> {
  const text = await readFile(join(folder, "measured.json"), "utf8").catch(() => null);
  return text === null ? otherwise : (JSON.parse(text) as T);
}

export async function writeProgress(folder: string, progress: unknown): Promise<void> {
  await writeFile(join(folder, "measured.json"), JSON.stringify(progress));
}
