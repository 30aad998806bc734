import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { appendFile, chown, mkdtemp, rename, statfs, writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pickFreePort } from "./free-port.ts";
import {
  type Account,
  getPostgresBinaries,
  getServerAccount,
  runPostgresProgram,
} from "./postgres-binaries.ts";

export interface PostgresHandle {
  /** The maintenance database `postgres`, as superuser. */
  url: string;
  dataDir: string;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
  /** Ends the server as a crash would, without a checkpoint, and starts it again at the same address. */
  restartImmediate(): Promise<void>;
}

// A shell that waits for the end of its input. The pipe closes with this process however that ends, SIGKILL
// included, so no server and no data directory outlives the tests that started it.
function startWatchdog(pgCtl: string, clusterDir: string, account: Account): ChildProcess {
  const script = 'cat >/dev/null; "$0" -D "$1/data" -m immediate -s stop; cd /; rm -rf "$1"';
  const watchdog = spawn("sh", ["-c", script, pgCtl, clusterDir], {
    ...account,
    cwd: clusterDir,
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.unref();
  (watchdog.stdin as Socket).unref();
  return watchdog;
}

export interface ClusterOptions {
  /** Lines of postgresql.conf. */
  settings?: string[];
  /** Where memory holds files: half of what it costs to make and drop a database is to write it to the disk. */
  isInMemory?: boolean;
  /** A data directory to start from, of a server with this password; it is moved. */
  restored?: { directory: string; password: string };
}

const enoughMemoryBytes = 4 * 1024 ** 3;

/** A directory in memory, or an ordinary one where there is no room. */
async function findMemory(): Promise<string> {
  const found = await statfs("/dev/shm").catch(() => null);
  return found !== null && found.bavail * found.bsize >= enoughMemoryBytes ? "/dev/shm" : tmpdir();
}

async function initialise(initdb: string, clusterDir: string, password: string, account: Account) {
  const passwordFile = join(clusterDir, "password");
  await writeFile(passwordFile, password, { mode: 0o644 });
  const settings = [
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=200",
    // Thousands of connections are made, and the password is as long as a key.
    "scram_iterations=1",
  ];
  await runPostgresProgram(
    initdb,
    [
      ...["-D", join(clusterDir, "data"), "-U", "postgres", "--pwfile", passwordFile],
      ...["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"],
      // Hosted databases sort by language, not by byte. So does this one: an ORDER BY that relies on bytes shows.
      ...["--locale-provider=icu", "--icu-locale=en-US"],
      ...settings.flatMap((setting) => ["-c", setting]),
    ],
    { ...account, cwd: clusterDir, logFile: join(clusterDir, "log") },
  );
}

/** Starts a PostgreSQL of its own on a free port of 127.0.0.1, durable as in production (fsync on). */
export async function startPostgres({
  settings = [],
  restored,
  isInMemory = false,
}: ClusterOptions = {}): Promise<PostgresHandle> {
  const account = getServerAccount();
  const clusterDir = await mkdtemp(join(isInMemory ? await findMemory() : tmpdir(), "upstow-postgres-"));
  if (account.uid !== undefined && account.gid !== undefined) {
    await chown(clusterDir, account.uid, account.gid);
  }
  const password = restored?.password ?? randomBytes(12).toString("hex");
  const logFile = join(clusterDir, "log");
  const { initdb, pgCtl } = await getPostgresBinaries(clusterDir, account);
  const watchdog = startWatchdog(pgCtl, clusterDir, account);

  const control = (...args: string[]) =>
    runPostgresProgram(pgCtl, ["-D", join(clusterDir, "data"), "-l", logFile, "-w", ...args], {
      ...account,
      cwd: clusterDir,
      logFile,
    });
  const stop = async () => {
    if (watchdog.exitCode !== null) return;
    watchdog.ref();
    watchdog.stdin?.end();
    await once(watchdog, "exit");
  };

  try {
    if (restored === undefined) await initialise(initdb, clusterDir, password, account);
    else await rename(restored.directory, join(clusterDir, "data"));
    await appendFile(join(clusterDir, "data", "postgresql.conf"), `\n${settings.join("\n")}\n`);
    const port = await pickFreePort();
    await control("-o", `-p ${port}`, "start");
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    const dataDir = join(clusterDir, "data");
    return { url, dataDir, stop, restartImmediate: () => control("-m", "immediate", "restart") };
  } catch (error) {
    await stop();
    throw error;
  }
}
