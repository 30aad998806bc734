import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
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
});
