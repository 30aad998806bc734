import assert from "node:assert/strict";
import { closeSync, openSync } from "node:fs";
import { it, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { pickFreePort } from "../../../test/support/free-port.ts";
import { envOf, keepData } from "./support/keep-data.ts";
import { spawnMain } from "./support/spawn-server.ts";
import { anyDatabase } from "./support/start-app.ts";

type Stdout = "pipe" | number;

async function startLogging(t: TestContext, stdout: Stdout) {
  const kept = await keepData(anyDatabase);
  t.after(() => kept.remove());
  const port = await pickFreePort();
  // Probes are logged at this level only.
  const env = { ...(await envOf(kept)), UPSTOW_PORT: String(port), UPSTOW_LOG_LEVEL: "debug" };
  const child = spawnMain(env, stdout);
  t.after(() => child.kill("SIGKILL"));
  const url = `http://localhost:${port}`;
  const isUp = () =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isUp())) {
    assert.equal(child.exitCode, null, "the server has ended");
    await wait(50);
  }
  const ask = async (path: string) => (await fetch(url + path)).text();
  async function countDropped(): Promise<number> {
    return Number(/^upstow_log_dropped_lines_total (\d+)$/m.exec(await ask("/metrics"))?.[1]);
  }
  return { child, ask, countDropped };
}

it("a full disk under the log costs lines, and nothing else", async (t) => {
  const full = openSync("/dev/full", "w");
  t.after(() => closeSync(full));
  const { child, ask, countDropped } = await startLogging(t, full);
  const before = await countDropped();
  for (let i = 0; i < 5; i++) await ask("/healthz");
  assert.ok((await countDropped()) >= before + 5);
  child.kill("SIGTERM");
  await new Promise((resolve) => child.once("exit", resolve));
  assert.equal(child.exitCode, 0);
});

it("a log that nobody reads stops nobody, and its lines arrive once somebody does", async (t) => {
  const { child, ask, countDropped } = await startLogging(t, "pipe");
  // More than a pipe and the memory behind it hold.
  while ((await countDropped()) === 0) await Promise.all(Array.from({ length: 500 }, () => ask("/healthz")));
  let text = "";
  child.stdout?.on("data", (chunk) => {
    text += chunk;
  });
  while (!text.includes('"route":"/readyz"')) {
    await ask("/readyz");
    await wait(20);
  }
  const lines = text.split("\n").filter((line) => line.startsWith('{"level"'));
  for (const line of lines) JSON.parse(line);
});
