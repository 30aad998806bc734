import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Servers that belong together, with a directory for their state. */
export interface ServerGroup {
  directory: string;
  /** Starts a program whose output can be read from `stdout`; errors go there too. */
  start(program: string, args: string[], options?: StartOptions): ChildProcess;
  /** Ends every program and removes the directory. */
  stop(): Promise<void>;
}

export interface StartOptions {
  env?: Record<string, string>;
  /** For programs that refuse to run as root; has no effect for other users. */
  asNobody?: boolean;
}

const nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];

// A shell that waits for the end of its input, which comes with the end of this process, SIGKILL included.
function startCleaner(directory: string): ChildProcess {
  const script = 'cat >/dev/null; cd /; for i in 1 2 3 4 5 6 7 8 9; do rm -rf "$0" && exit; sleep 0.2; done';
  const cleaner = spawn("sh", ["-c", script, directory], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  cleaner.unref();
  (cleaner.stdin as Socket).unref();
  return cleaner;
}

export async function createServerGroup(name: string): Promise<ServerGroup> {
  const directory = await mkdtemp(join(tmpdir(), `upstow-${name}-`));
  // Programs that run as another user have to get in.
  await chmod(directory, 0o755);
  const cleaner = startCleaner(directory);
  const children: ChildProcess[] = [];
  return {
    directory,
    start(program, args, options = {}) {
      const account = options.asNobody === true && process.getuid?.() === 0 ? nobody : [];
      // setpriv: the kernel ends the server with this process, however that ends.
      const child = spawn("setpriv", [...account, "--pdeathsig", "KILL", program, ...args], {
        cwd: directory,
        env: { ...process.env, ...options.env },
        stdio: ["ignore", "pipe", "pipe"],
      });
      child.stderr.on("data", (text) => child.stdout.emit("data", text));
      child.stdout.resume();
      child.unref();
      (child.stdout as Socket).unref();
      (child.stderr as Socket).unref();
      children.push(child);
      return child;
    },
    async stop() {
      for (const child of children.splice(0).reverse()) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.ref();
        const exited = once(child, "exit");
        child.kill("SIGKILL");
        await exited;
      }
      if (cleaner.exitCode !== null) return;
      cleaner.ref();
      cleaner.stdin?.end();
      await once(cleaner, "exit");
    },
  };
}

/** The first line a program prints that matches; fails with all it printed if it ends before. */
export function waitForLine(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
  let output = "";
  const look = (chunk: Buffer) => {
    output += chunk;
    const match = pattern.exec(output);
    if (match !== null) resolve(match);
  };
  const ended = () => reject(new Error(`${child.spawnargs.join(" ")} ended:\n${output.slice(-4000)}`));
  child.stdout?.on("data", look);
  child.once("exit", ended);
  (child.stdout as Socket).ref();
  child.ref();
  return promise.finally(() => {
    child.stdout?.off("data", look);
    child.off("exit", ended);
    (child.stdout as Socket).unref();
    child.unref();
  });
}
