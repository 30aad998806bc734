import { chmod, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { findCommand } from "../../scripts/debian-packages.mjs";
import type { S3Server } from "./s3-server.ts";
import { createServerGroup, type ServerGroup, waitForLine } from "./server-group.ts";

const commands = [
  "swift-proxy-server",
  "swift-account-server",
  "swift-container-server",
  "swift-object-server",
];
const missing = [...commands, "memcached"].find((command) => findCommand(command) === null);

/** For `{ skip: swiftMissing }`: false, or why the test cannot run on this machine. */
export const swiftMissing: string | false =
  missing !== undefined && `${missing} is not installed on this machine`;

const launcher = fileURLToPath(new URL("swift-server.py", import.meta.url));
// Debian's own Python: another one in the PATH does not find Debian's packages.
const python = "/usr/bin/python3";

export interface SwiftOptions {
  /** Lets pages of any origin in: rules for CORS are Swift's own setting, its S3 API takes none. */
  takesBrowsers?: boolean;
}

const [accessKeyId, secretAccessKey] = ["test:tester", "testing"];

/** The server that the whole run shares, as each test has buckets of its own; where there is none, another one. */
export async function startSwift(options: SwiftOptions = {}): Promise<S3Server> {
  const shared = process.env["UPSTOW_TEST_SWIFT_URL"];
  if (shared === undefined || options.takesBrowsers === true) return startOwnSwift(options);
  return { endpoint: shared, region: "us-east-1", accessKeyId, secretAccessKey, stop: async () => {} };
}

/** Starts OpenStack Swift with its S3 API, which checks signatures, on a free port of 127.0.0.1. */
export async function startOwnSwift({ takesBrowsers = false }: SwiftOptions = {}): Promise<S3Server> {
  const group = await createServerGroup("swift");
  try {
    const memcachedPort = await startMemcached(group);
    const state = join(group.directory, "state");
    const origins = takesBrowsers ? "*" : "";
    const given = [state, memcachedPort, accessKeyId, secretAccessKey, origins];
    const swift = group.start(python, [launcher, ...given]);
    const [, port] = await waitForLine(swift, /^(\d+)\n/m);
    return {
      endpoint: `http://127.0.0.1:${port}`,
      region: "us-east-1",
      accessKeyId,
      secretAccessKey,
      stop: () => group.stop(),
    };
  } catch (error) {
    await group.stop();
    throw error;
  }
}

async function startMemcached(group: ServerGroup): Promise<string> {
  // Any free port; memcached writes down which.
  const folder = join(group.directory, "memcached");
  await mkdir(folder);
  await chmod(folder, 0o777);
  const portFile = join(folder, "port");
  const memcached = group.start("memcached", ["-l", "127.0.0.1", "-p", "-1"], {
    env: { MEMCACHED_PORT_FILENAME: portFile },
    asNobody: true,
  });
  for (;;) {
    const text = await readFile(portFile, "utf8").catch(() => "");
    const port = /TCP INET: (\d+)/.exec(text)?.[1];
    if (port !== undefined) return port;
    if (memcached.exitCode !== null || memcached.signalCode !== null)
      throw new Error("memcached did not start");
    await sleep(10);
  }
}
