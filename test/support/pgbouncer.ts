import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { findCommand } from "../../scripts/debian-packages.mjs";
import { pickFreePort } from "./free-port.ts";
import { getServerAccount } from "./postgres-binaries.ts";

/** For `{ skip: pgbouncerMissing }`: false, or why the test cannot run on this machine. */
export const pgbouncerMissing: string | false =
  findCommand("pgbouncer") === null && "pgbouncer is not installed on this machine";

export type PoolMode = "session" | "transaction" | "statement";

/** Starts a pooler with Debian's defaults in front of the database; returns the database's URL through it. */
export async function startPgbouncer(t: TestContext, target: string, mode: PoolMode): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(target);
  const own = await pickFreePort();
  const name = pathname.slice(1);
  const folder = await mkdtemp(join(tmpdir(), "upstow-pgbouncer-"));
  const config = join(folder, "pgbouncer.ini");
  const server = `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`;
  const lines = ["[databases]", `${name} = ${server}`, "[pgbouncer]", `pool_mode = ${mode}`];
  lines.push("listen_addr = 127.0.0.1", `listen_port = ${own}`, "auth_type = any", "unix_socket_dir =", "");
  await writeFile(config, lines.join("\n"));
  const { uid, gid } = getServerAccount();
  const identity = uid === undefined ? [] : [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
  // It runs as another user where this one is root.
  await chmod(folder, 0o755);
  const command = findCommand("pgbouncer") ?? "";
  const child = spawn("setpriv", [...identity, "--pdeathsig", "KILL", command, config], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  t.after(async () => {
    if (child.exitCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    await rm(folder, { recursive: true });
  });
  let output = "";
  for await (const chunk of child.stderr.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    output += chunk;
    if (output.includes("process up")) break;
  }
  if (!output.includes("process up")) throw new Error(`pgbouncer did not start: ${output}`);
  child.stderr.resume();
  const url = new URL(target);
  url.host = `127.0.0.1:${own}`;
  return url.href;
}
