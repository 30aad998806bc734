import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { findCommand } from "../../scripts/debian-packages.mjs";
import { pickFreePort } from "./free-port.ts";

/** For `{ skip: clamdMissing }`: false, or why the test cannot run on this machine. */
export const clamdMissing: string | false =
  findCommand("clamd") === null && "clamav-daemon is not installed on this machine";

/** The test virus of all scanners, put together here so that none of them takes this file for it. */
export const eicar = Buffer.from(
  ["X5O!P%@AP[4\\PZX54(P^)7CC)7}$", "EICAR", "-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"].join(""),
);

export interface ClamdHandle {
  port: number;
  /** As `UPSTOW_CLAMD` has it. */
  tcp: string;
  /** The path of its socket, likewise. */
  socket: string;
  /** Until the next start nothing answers at either address. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops it for good, and removes its files. */
  close(): Promise<void>;
}

/** ClamAV's daemon on loopback, with signatures that know the test virus and nothing else: none are downloaded. */
export async function startClamd(settings: Record<string, string> = {}): Promise<ClamdHandle> {
  const folder = await mkdtemp(join(tmpdir(), "upstow-clamd-"));
  const port = await pickFreePort();
  const socket = join(folder, "clamd.sock");
  // Anywhere in a file of any type, and in the parts of archives.
  await writeFile(join(folder, "test.ndb"), `Upstow.Test.EICAR:0:*:${eicar.toString("hex")}\n`);
  const lines = {
    Foreground: "yes",
    DatabaseDirectory: folder,
    TemporaryDirectory: folder,
    TCPAddr: "127.0.0.1",
    TCPSocket: String(port),
    LocalSocket: socket,
    User: process.getuid?.() === 0 ? "root" : "",
    ...settings,
  };
  const config = join(folder, "clamd.conf");
  const text = Object.entries(lines).flatMap(([name, value]) => (value === "" ? [] : `${name} ${value}\n`));
  await writeFile(config, text.join(""));
  let running: ReturnType<typeof spawn> | null = null;

  const clamd: ClamdHandle = {
    port,
    tcp: `tcp://127.0.0.1:${port}`,
    socket,
    async start() {
      // setpriv: the kernel ends the daemon with this process, however that ends.
      running = spawn("setpriv", ["--pdeathsig", "KILL", "clamd", "--config-file", config], {
        stdio: ["ignore", "ignore", "ignore"],
      });
      const daemon = running;
      while (!(await answers(port))) {
        if (daemon.exitCode !== null) throw new Error("clamd did not start");
        await wait(50);
      }
    },
    async stop() {
      const daemon = running;
      if (daemon === null || daemon.exitCode !== null || daemon.signalCode !== null) return;
      daemon.kill("SIGKILL");
      await once(daemon, "exit");
    },
    async close() {
      await clamd.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await clamd.start();
  return clamd;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.on("connect", () => socket.write("zPING\0"));
    socket.on("data", () => socket.end(() => resolve(true)));
    socket.on("error", () => resolve(false));
  });
}
