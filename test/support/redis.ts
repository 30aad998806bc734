import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { findCommand } from "../../scripts/debian-packages.mjs";
import { pickFreePort } from "./free-port.ts";

export interface RedisHandle {
  url: string;
  stop(): Promise<void>;
  /** Kills the server and starts an empty one at the same address. */
  restart(): Promise<void>;
  /** Freezes the server: connections stay open and nothing answers. The result lets it go on. */
  pause(): () => void;
}

/** For `{ skip: redisMissing }`: false, or why the test cannot run on this machine. */
export const redisMissing: string | false =
  findCommand("redis-server") === null && "redis-server is not installed on this machine";

/** Starts a Redis on a free port of 127.0.0.1 that keeps nothing on disk. */
export async function startRedis(): Promise<RedisHandle> {
  const port = await pickFreePort();
  let redis = await launch(port);
  const stop = async () => {
    if (redis.exitCode !== null || redis.signalCode !== null) return;
    redis.kill("SIGKILL");
    await once(redis, "exit");
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    stop,
    async restart() {
      await stop();
      redis = await launch(port);
    },
    pause: () => {
      const paused = redis;
      paused.kill("SIGSTOP");
      // The signal is sent before it has arrived: a busy machine lets one more answer through.
      while (!/^State:\s+T/m.test(readFileSync(`/proc/${paused.pid}/status`, "utf8")));
      return () => paused.kill("SIGCONT");
    },
  };
}

async function launch(port: number) {
  const settings = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  // setpriv: the kernel ends the server with this process, however that ends.
  const redis = spawn("setpriv", ["--pdeathsig", "KILL", "redis-server", ...settings], {
    cwd: tmpdir(),
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  for await (const chunk of redis.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    output += chunk;
    if (output.includes("Ready to accept connections")) break;
  }
  if (!output.includes("Ready to accept connections")) throw new Error("redis-server did not start");
  redis.stdout.resume();
  return redis;
}
