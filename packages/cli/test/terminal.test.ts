import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { MB } from "../../sdk/test/support/start-service.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));

describe("at a terminal", () => {
  let app: TestApp;
  let home: string;
  before(async () => {
    app = await startApp({ database: "sqlite" });
    home = await mkdtemp(join(tmpdir(), "upstow-terminal-"));
    await writeFile(join(home, "package.json"), '{ "dependencies": { "hono": "4" } }\n');
    await writeFile(join(home, "large.bin"), new Uint8Array(12 * MB));
  });
  after(async () => {
    await app.close();
    await rm(home, { recursive: true });
  });

  /** `script` gives the command a terminal of its own. Types the answer when the question is there. */
  async function runAtTerminal(args: string[], question: RegExp | null, answer: string): Promise<string> {
    const command = [process.execPath, "--disable-warning=ExperimentalWarning", main, ...args];
    const child = spawn("script", ["-qec", command.map((word) => `'${word}'`).join(" "), "/dev/null"], {
      env: { PATH: process.env["PATH"], HOME: home, SHELL: "/bin/sh" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    let shown = "";
    let isAnswered = question === null;
    for await (const chunk of child.stdout.setEncoding("utf8")) {
      shown += chunk;
      if (isAnswered || question?.test(shown) !== true) continue;
      isAnswered = true;
      child.stdin.write(answer);
    }
    assert.equal(child.exitCode ?? (await new Promise((resolve) => child.once("exit", resolve))), 0, shown);
    return shown;
  }

  it("asks for the key and never shows it", async () => {
    const shown = await runAtTerminal(["login", "--url", app.url], /API key/, `${app.owner.live}\r`);
    assert.match(shown, /Signed in to/);
    assert.ok(!shown.includes(app.owner.live.slice(9)));
  });

  it("draws bars while it uploads, and takes them away", async () => {
    const shown = await runAtTerminal(["upload", join(home, "large.bin")], null, "");
    assert.match(shown, /large\.bin +[█░]{24} +\d+ % {2}/);
    assert.match(shown, /1 of 1 files +█{24} 100 %/);
    assert.match(shown, /✔ large\.bin {2}http\S+\r\n(?:.*\r)?.*Uploaded 1 file, 12\.0 MB\.\r\n$/s);
  });

  it("asks before it writes to a project", async () => {
    const refused = await runAtTerminal(["init", home, "--no-install"], /\[y\/N\]/, "n\r");
    assert.match(refused, /\+\+\+ src\/upload\.ts[\s\S]*Nothing was written\./);
    const written = await runAtTerminal(["init", home, "--no-install"], /\[y\/N\]/, "y\r");
    assert.match(written, /Wrote 4 files/);
    assert.match(await readFile(join(home, "src/upload.ts"), "utf8"), /new Hono\(\)/);
  });
});
