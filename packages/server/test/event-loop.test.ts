import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { pino } from "pino";
import { Registry } from "prom-client";
import { createEventLoopGuard } from "../src/kernel/event-loop-guard.ts";
import { createBackground } from "../src/ops/background.ts";
import { createBackgroundMetrics } from "../src/ops/metrics.ts";
import { envOf, keepData } from "./support/keep-data.ts";
import { spawnServer } from "./support/spawn-server.ts";
import { anyDatabase, startApp, type TestApp } from "./support/start-app.ts";

const blockMs = 400;
const patienceMs = 60_000;

function block(): void {
  const until = performance.now() + blockMs;
  while (performance.now() < until) {}
}

interface StallLine {
  level: string;
  msg: string;
  stalledMs: number;
  cpuMs: number;
  running: { name: string; requestId?: string; ms: number }[];
  suppressed: number;
}

const stallsIn = (lines: string[]): StallLine[] =>
  lines
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => /^event loop stalled/.test(msg));

/** Other stalls may use up the one line of ten seconds on a busy machine, so it stalls until there is a line that fits. */
async function stallUntilLogged(
  readLines: () => string[],
  expected: RegExp,
  stall: () => Promise<unknown>,
): Promise<StallLine> {
  const giveUpAt = performance.now() + patienceMs;
  while (performance.now() < giveUpAt) {
    await stall();
    await wait(100);
    const line = stallsIn(readLines()).find(({ msg }) => expected.test(msg));
    if (line !== undefined) return line;
  }
  throw new Error(`no line says ${expected}: ${JSON.stringify(stallsIn(readLines()))}`);
}

/** How many delays the histogram has over a quarter of a second. */
function countLong(metrics: string): number {
  const read = (le: string) =>
    Number(metrics.match(`nodejs_eventloop_delay_seconds_bucket\\{le="${le}"\\} (\\d+)`)?.[1]);
  return read("\\+Inf") - read("0.25");
}

describe("a stalled event loop", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());

  it("shows in the metrics, and the log names the route but not the URL", async () => {
    const { deps } = app.app;
    const { now } = deps;
    const readMetrics = async () => String((await app.call("GET", "/metrics")).body);
    assert.ok(countLong(await readMetrics()) >= 0);
    const line = await stallUntilLogged(
      () => app.logLines,
      /while handling .*DELETE \/api\/v1\/files\/\*/,
      async () => {
        deps.now = () => {
          block();
          deps.now = now;
          return now();
        };
        const headers = { "x-request-id": "the-one-that-blocks" };
        const answer = await app.call("DELETE", "files/secret-name", { key: app.owner.live, headers });
        assert.equal(answer.status, 404);
      },
    );
    assert.equal(line.level, "warn");
    assert.ok(line.stalledMs >= 250, String(line.stalledMs));
    const blamed = line.running.find(({ name }) => name === "DELETE /api/v1/files/*");
    assert.equal(blamed?.requestId, "the-one-that-blocks");
    assert.ok(!JSON.stringify(stallsIn(app.logLines)).includes("secret-name"));
    assert.ok(countLong(await readMetrics()) >= 1);
  });
});

it("a background job that blocks is named", async (t) => {
  const logLines: string[] = [];
  const log = pino({ level: "warn" }, { write: (text: string) => void logLines.push(text) });
  const guard = createEventLoopGuard(log, new Registry());
  const background = createBackground(log, {
    runLeased: async () => {},
    runJob: guard.runJob,
    metrics: createBackgroundMetrics(new Registry()),
  });
  t.after(async () => {
    guard.close();
    await background.close();
  });
  guard.start();
  background.every(50, "count all the leaves", async () => block());
  await stallUntilLogged(
    () => logLines,
    /while handling .*job "count all the leaves"/,
    () => wait(blockMs),
  );
});

it("of many stalls one line is written, and the next one counts those left out", async (t) => {
  let nowMs = 0;
  const logLines: string[] = [];
  const log = pino({ level: "warn" }, { write: (text: string) => void logLines.push(text) });
  const guard = createEventLoopGuard(log, new Registry(), { now: () => nowMs, cpuMs: () => nowMs });
  t.after(() => guard.close());
  const stall = (ms: number) => {
    nowMs += ms;
    guard.beat();
  };
  guard.beat();
  for (let i = 0; i < 5; i++) stall(500);
  assert.equal(stallsIn(logLines).length, 1);
  for (let i = 0; i < 1_000; i++) stall(25);
  stall(700);
  const [first, second] = stallsIn(logLines);
  assert.deepEqual([first?.suppressed, second?.suppressed], [0, 4]);
  assert.match(second?.msg ?? "", /for 675 ms .*with no request or job running/);
});

it("a process that was stopped is told apart from a busy one", async (t) => {
  const kept = await keepData(anyDatabase);
  t.after(() => kept.remove());
  const server = await spawnServer({ ...(await envOf(kept)), UPSTOW_LOG_LEVEL: "warn" });
  t.after(() => server.process.kill("SIGKILL"));
  let output = "";
  server.process.stdout?.on("data", (chunk) => {
    output += chunk;
  });
  const line = await stallUntilLogged(
    () => output.split("\n"),
    /not scheduled/,
    async () => {
      server.process.kill("SIGSTOP");
      await wait(600);
      server.process.kill("SIGCONT");
    },
  );
  assert.ok(line.cpuMs < line.stalledMs / 2, JSON.stringify(line));
});
