import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { pickFreePort } from "../../../test/support/free-port.ts";
import { runJson, runUpstow } from "./support/run-upstow.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

describe("upstow serve", () => {
  it("runs the service after an account was made, still shows the owner's keys, and ends on SIGTERM", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "upstow-serve-"));
    const env = { UPSTOW_DATA_DIR: dataDir, UPSTOW_PORT: String(await pickFreePort()) };
    await runJson(["account", "create", "--email", "early@example.com"], env);
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, "serve"], {
      env: { PATH: process.env["PATH"], UPSTOW_LOG_LEVEL: "error", ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      let shown = "";
      for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
        shown += chunk;
        if (/Upstow is ready at \S+\n[\s\S]*\n$/.test(shown)) break;
      }
      child.stdout.resume();
      assert.match(shown, /Live key +svc_live_/);
      assert.equal((await fetch(`http://localhost:${env.UPSTOW_PORT}/healthz`)).status, 200);
      await runJson(["project", "create", "--account", "early@example.com", "--name", "First"], env);
      assert.equal((await runUpstow(["doctor"], env)).code, 0);
      child.kill("SIGTERM");
      const [code] = await once(child, "exit");
      assert.equal(code, 0);
    } finally {
      child.kill("SIGKILL");
      await rm(dataDir, { recursive: true, force: true });
    }
  });

  describe("at a terminal", () => {
    let dataDir: string;
    before(async () => {
      dataDir = await mkdtemp(join(tmpdir(), "upstow-serve-"));
    });
    after(() => rm(dataDir, { recursive: true, force: true }));

    /** Starts it in a terminal of its own, asks it for `path`, and ends it with Ctrl-C once it has shown `last`. */
    async function show(args: string[], path: string, last: RegExp): Promise<string> {
      const port = await pickFreePort();
      const command = [process.execPath, "--disable-warning=ExperimentalWarning", main, "serve", ...args];
      const child = spawn("script", ["-qec", command.map((word) => `'${word}'`).join(" "), "/dev/null"], {
        env: {
          PATH: process.env["PATH"],
          SHELL: "/bin/sh",
          TERM: "xterm-256color",
          UPSTOW_DATA_DIR: dataDir,
          UPSTOW_PORT: String(port),
        },
        stdio: ["pipe", "pipe", "inherit"],
      });
      let shown = "";
      let isVisited = false;
      let isStopped = false;
      for await (const chunk of child.stdout.setEncoding("utf8")) {
        shown += chunk;
        if (!isVisited && shown.includes("Ctrl-C stops the service.")) {
          isVisited = true;
          await fetch(`http://localhost:${port}${path}`);
        }
        if (!isVisited || isStopped || !last.test(shown)) continue;
        isStopped = true;
        child.stdin.write("\x03");
      }
      return shown.replaceAll("\r\n", "\n");
    }
    const colours = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, "g");

    it("shows keys, the way on and readable requests; later starts and --quiet show less", async () => {
      const first = await show([], "/api/v1/files", /\/api\/v1\/files.* ms/);
      const plain = first.replaceAll(colours, "");
      assert.notEqual(plain, first, "in colours");
      assert.match(plain, /^Upstow is ready at http:\/\/localhost:\d+$/m);
      assert.match(plain, /^ {2}Live key {3}svc_live_\w+$/m);
      assert.match(plain, /^ {2}Dashboard {2}http:\S+\/dashboard\/claim#\S{43}$/m);
      assert.match(plain, /UPSTOW_RATE_LIMITS raises that/);
      assert.match(plain, /^\d\d:\d\d:\d\d {2}401 {2}GET {5}\/api\/v1\/files {2}[\d.]+ ms$/m);
      assert.match(plain, /\d\d:\d\d:\d\d {2}finishing requests in flight {2}signal=SIGINT$/m);
      assert.doesNotMatch(plain, /^\{/m);

      const later = (await show(["--quiet"], "/docs", /ready at/)).replaceAll(colours, "");
      assert.match(later, /^ {2}Dashboard {2}http:\/\/localhost:\d+\/dashboard$/m);
      assert.match(later, new RegExp(`^ {2}Data {7}${dataDir}$`, "m"));
      assert.match(later, /^ {2}Only warnings and errors are listed below\. Ctrl-C stops the service\.$/m);
      assert.doesNotMatch(later, /svc_|Requests are listed|\/docs\/?\S* {2}[\d.]+ ms|finishing/);
    });
  });
});
