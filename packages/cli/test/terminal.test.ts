import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { MB } from "../../sdk/test/support/start-service.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { runAtTerminal } from "./support/run-at-terminal.ts";

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

  const run = (args: string[], dialog?: Parameters<typeof runAtTerminal>[2]) =>
    runAtTerminal(args, { HOME: home }, dialog);

  it("asks for the key and never shows it", async () => {
    const shown = await run(["login", "--url", app.url], {
      question: /API key/,
      answer: `${app.owner.live}\r`,
    });
    assert.match(shown, /Signed in to/);
    assert.ok(!shown.includes(app.owner.live.slice(9)));
  });

  it("draws bars while it uploads, and takes them away", async () => {
    const shown = await run(["upload", join(home, "large.bin")]);
    assert.match(shown, /large\.bin +[█░]{24} +\d+% {2}/);
    assert.match(shown, /1 of 1 files +█{24} 100%/);
    assert.match(shown, /✔ large\.bin {2}http\S+\r\n(?:.*\r)?.*Uploaded 1 file, 12\.0 MB\.\r\n$/s);
  });

  it("asks before it writes to a project", async () => {
    const init = (answer: string) => run(["init", home, "--no-install"], { question: /\[y\/N\]/, answer });
    const refused = await init("n\r");
    assert.match(refused, /\+\+\+ src\/upload\.mjs[\s\S]*Nothing was written\./);
    const written = await init("y\r");
    assert.match(written, /Wrote 4 files/);
    assert.match(await readFile(join(home, "src/upload.mjs"), "utf8"), /new Hono\(\)/);
  });
});
