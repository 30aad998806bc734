import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { spawnServer } from "./support/spawn-server.ts";

describe("UPSTOW_FIRST_START_KEYS=file", () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "upstow-first-"));
  });
  let kill = () => {};
  afterEach(async () => {
    kill();
    await rm(dataDir, { recursive: true });
  });

  async function start() {
    const env = { UPSTOW_DATA_DIR: dataDir, UPSTOW_FIRST_START_KEYS: "file", UPSTOW_LOG_LEVEL: "info" };
    const server = await spawnServer(env);
    kill = () => void server.process.kill("SIGKILL");
    let later = "";
    for (const stream of [server.process.stdout, server.process.stderr])
      stream?.on("data", (chunk) => {
        later += chunk;
      });
    assert.equal((await server.call("GET", "/healthz")).status, 200);
    return {
      server,
      async stop(): Promise<string> {
        server.process.kill("SIGTERM");
        assert.equal(await server.ended, 0);
        return server.output + later;
      },
    };
  }

  it("keeps keys and link out of the log, in a file for this user only", async () => {
    const path = join(dataDir, "first-start.txt");
    await writeFile(path, "of an installation before this one", { mode: 0o644 });
    const { server, stop } = await start();
    const kept = await readFile(path, "utf8");
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const [live = ""] = /svc_live_\w+/.exec(kept) ?? [];
    assert.equal((await server.call("GET", "projects", { key: live })).status, 200);
    assert.match(kept, /Test key +svc_test_\w+/);
    assert.match(kept, /\/dashboard\/claim#\S+/);
    assert.ok(!kept.includes("before this one"));
    const output = await stop();
    assert.doesNotMatch(output, /svc_(live|test)_\w{10}|claim#/);
    assert.ok(output.includes(`are in ${path}`), output);
    assert.match(output, /Upstow is ready at/);

    await rm(path);
    const again = await start();
    assert.doesNotMatch(await again.stop(), /first-start/);
    await assert.rejects(stat(path), { code: "ENOENT" });
  });

  it("tells how to get in where the file cannot be written", async () => {
    await mkdir(join(dataDir, "first-start.txt/in-the-way"), { recursive: true });
    const output = await (await start()).stop();
    assert.doesNotMatch(output, /svc_(live|test)_\w{10}|claim#/);
    assert.match(output, /could not be written.*account login-link/s);
  });
});
