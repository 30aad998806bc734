import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isQuickRun, slowTest } from "../../../../../../test/support/quick-run.ts";
import { openTestPool } from "../../../../test/support/render/open-test-pool.ts";
import { noise, palette, solid } from "../../../../test/support/render/test-images.ts";
import {
  maxSourceBytes,
  RenderAbandoned,
  RenderQueueFull,
  RenderTimeout,
  RenderUnavailable,
} from "./render-job.ts";
import type { RenderPool, RenderPoolOptions } from "./render-pool.ts";

const dot = await solid(1, 1, palette.red).png().toBuffer();
const quick = {
  account: "a",
  readSource: async () => dot,
  recipe: { width: 8, height: 8, fit: "cover", quality: 85 },
  format: "png",
} as const;
const grain = await noise(1024, 1024, 1).png().toBuffer();
/** Takes many seconds on any machine; every test that starts it also ends it. */
const slow = {
  account: "a",
  readSource: async () => grain,
  recipe: { width: 4096, height: 4096, fit: "cover", quality: 100 },
  format: "avif",
} as const;

function openPool(t: TestContext, options: Partial<RenderPoolOptions> = {}): RenderPool {
  const pool = openTestPool(options);
  t.after(() => pool.close());
  return pool;
}

function getOnlyPid(pool: RenderPool): number {
  const { workerPids } = pool.status();
  const [pid] = workerPids;
  assert.ok(pid !== undefined && workerPids.length === 1, `workers: ${workerPids}`);
  return pid;
}

async function waitForOtherPid(pool: RenderPool, oldPid: number): Promise<number> {
  for (;;) {
    const pid = pool.status().workerPids.find((candidate) => candidate !== oldPid);
    if (pid !== undefined) return pid;
    await sleep(5);
  }
}

/** Of all threads of a process. */
function findPolicies(pid: number): string {
  const told = execFileSync("chrt", ["--all-tasks", "--pid", String(pid)], { encoding: "utf8" });
  return [...new Set(told.match(/SCHED_\w+/g))].join(" ");
}

test("workers start when needed, serve many jobs and never exceed the size", async (t) => {
  const pool = openPool(t, { size: 2 });
  assert.deepEqual(pool.status(), { running: 0, queued: 0, workerPids: [] });
  const results = Promise.all(Array.from({ length: 6 }, () => pool.render(quick)));
  assert.deepEqual([pool.status().running, pool.status().queued], [2, 4]);
  assert.ok((await results).every((result) => result.ok && result.width === 8));
  const { workerPids } = pool.status();
  assert.equal(workerPids.length, 2);
  await pool.render(quick);
  assert.deepEqual(pool.status(), { running: 0, queued: 0, workerPids });
});

test("a full queue refuses with a time to come back, and what waits is still rendered", async (t) => {
  const pool = openPool(t, { waitingPerAccount: 1 });
  const accepted = [pool.render(quick), pool.render(quick)];
  await assert.rejects(pool.render(quick), (error) => {
    assert.ok(error instanceof RenderQueueFull);
    assert.ok(Number.isInteger(error.retryAfterSec) && error.retryAfterSec >= 1);
    return true;
  });
  for (const result of await Promise.all(accepted)) assert.ok(result.ok);
  assert.ok((await pool.render(quick)).ok);
});

test("whoever comes while another account waits with many is rendered at once, by one more worker", async (t) => {
  const pool = openPool(t);
  await pool.render(quick);
  const hogged = [slow, slow, slow, slow].map((request) => pool.render({ ...request, account: "hog" }));
  for (const one of hogged) one.catch(() => {});
  assert.deepEqual([pool.status().running, pool.status().queued], [1, 3]);
  assert.ok((await pool.render(quick)).ok);
  assert.deepEqual([pool.status().running, pool.status().queued], [1, 3]);
});

test("a job that nobody waits for is dropped while it waits, and finished once it has begun", async (t) => {
  const pool = openPool(t);
  const [begun, waiting] = [new AbortController(), new AbortController()];
  const source = Promise.withResolvers<Buffer>();
  const first = pool.render({ ...quick, signal: begun.signal, readSource: () => source.promise });
  const second = pool.render({
    ...quick,
    signal: waiting.signal,
    readSource: async () => assert.fail("what was dropped is read"),
  });
  begun.abort();
  waiting.abort();
  await assert.rejects(second, RenderAbandoned);
  assert.deepEqual([pool.status().running, pool.status().queued], [1, 0]);
  source.resolve(dot);
  assert.ok((await first).ok);
  await assert.rejects(
    pool.render({ ...quick, signal: AbortSignal.abort(), readSource: async () => assert.fail("begun") }),
    RenderAbandoned,
  );
});

test("case 18: past the deadline the worker is killed and the next job succeeds", async (t) => {
  const pool = openPool(t, { deadlineMs: 1000, giveUpMs: 600_000 });
  await pool.render(quick);
  const pid = getOnlyPid(pool);
  const late = pool.render(slow);
  const next = pool.render(quick);
  await assert.rejects(late, RenderTimeout);
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  assert.ok((await next).ok);
  assert.notEqual(getOnlyPid(pool), pid);
});

slowTest("a deadline counts the time a worker has run, not the time of day", async (t) => {
  const pool = openPool(t, { deadlineMs: 1000 });
  await pool.render(quick);
  const pid = getOnlyPid(pool);
  process.kill(pid, "SIGSTOP");
  const held = pool.render(quick);
  await sleep(1500);
  process.kill(pid, "SIGCONT");
  assert.ok((await held).ok);
  assert.equal(getOnlyPid(pool), pid);
});

test("workers give way to everybody else", async (t) => {
  const pool = openPool(t, { patienceMs: 300_000, giveUpMs: 600_000 });
  await pool.render(quick);
  assert.equal(findPolicies(getOnlyPid(pool)), "SCHED_IDLE");
});

test("they no longer do once an image has waited in vain, which costs it no attempt", async (t) => {
  const pool = openPool(t, { patienceMs: 500 });
  const rendered = pool.render(quick);
  const first = await waitForOtherPid(pool, 0);
  process.kill(first, "SIGSTOP");
  const second = await waitForOtherPid(pool, first);
  process.kill(second, "SIGKILL");
  assert.ok((await rendered).ok);
  const third = getOnlyPid(pool);
  assert.ok(third !== first && third !== second);
  assert.equal(findPolicies(third), "SCHED_OTHER");
});

slowTest("who waits in vain for an ordinary worker may come back, and the image is not blamed", async (t) => {
  const pool = openPool(t, { giveUpMs: 4_000 });
  await pool.render(quick);
  process.kill(getOnlyPid(pool), "SIGSTOP");
  await assert.rejects(pool.render(quick), RenderUnavailable);
  assert.ok((await pool.render(quick)).ok);
});

test("a source is read when its turn has come, and what goes wrong there is passed on", async (t) => {
  const pool = openPool(t);
  const first = Promise.withResolvers<Buffer>();
  let hasRead = false;
  const held = pool.render({ ...quick, readSource: () => first.promise });
  const waiting = pool.render({
    ...quick,
    async readSource() {
      hasRead = true;
      throw new Error("the bucket is away");
    },
  });
  assert.deepEqual(pool.status(), { running: 1, queued: 1, workerPids: [] });
  await sleep(20);
  assert.equal(hasRead, false);
  first.resolve(dot);
  assert.ok((await held).ok);
  await assert.rejects(waiting, /the bucket is away/);
  assert.equal(hasRead, true);
});

test("a worker killed from outside costs one more attempt, not the job", async (t) => {
  const pool = openPool(t);
  const result = pool.render(quick);
  const pid = await waitForOtherPid(pool, 0);
  process.kill(pid, "SIGKILL");
  assert.ok((await result).ok);
  assert.notEqual(getOnlyPid(pool), pid);
});

test("an image that brings down two workers is unprocessable; others are not touched", async (t) => {
  const pool = openPool(t);
  const fatal = pool.render(slow);
  const next = pool.render(quick);
  const pid = await waitForOtherPid(pool, 0);
  process.kill(pid, "SIGKILL");
  process.kill(await waitForOtherPid(pool, pid), "SIGKILL");
  assert.deepEqual(await fatal, { ok: false, problem: "unprocessable" });
  assert.ok((await next).ok);
});

slowTest("a worker that died while idle is not used again", async (t) => {
  const pool = openPool(t);
  await pool.render(quick);
  const pid = getOnlyPid(pool);
  process.kill(pid, "SIGKILL");
  while (pool.status().workerPids.length > 0) await sleep(5);
  assert.ok((await pool.render(quick)).ok);
  assert.notEqual(getOnlyPid(pool), pid);
});

slowTest("a worker is replaced after its share of jobs", async (t) => {
  const pool = openPool(t, { maxJobs: 2 });
  await pool.render(quick);
  const first = getOnlyPid(pool);
  await pool.render(quick);
  await pool.render(quick);
  assert.notEqual(getOnlyPid(pool), first);
});

test("a worker that has grown is replaced before anybody waits for it", async (t) => {
  const pool = openPool(t, { maxRssBytes: 1 });
  const pids = new Set<number>();
  for (let job = 0; job < 2; job++) {
    assert.ok((await pool.render(quick)).ok);
    pids.add(await waitForOtherPid(pool, [...pids].at(-1) ?? 0));
  }
  assert.equal(pids.size, 2);
  assert.equal(pool.status().workerPids.length, 1);
});

test("a source too large to be read is refused without a worker", async (t) => {
  const pool = openPool(t);
  const bytes = Buffer.alloc(maxSourceBytes + 1);
  dot.copy(bytes);
  assert.deepEqual(await pool.render({ ...quick, readSource: async () => bytes }), {
    ok: false,
    problem: "too-many-bytes",
  });
  assert.deepEqual(pool.status().workerPids, []);
});

test("a worker sees nothing of the service's environment and ignores signals to the group", async (t) => {
  const name = "RENDER_TEST_SECRET";
  process.env[name] = "hush-hush";
  t.after(() => delete process.env[name]);
  const pool = openPool(t);
  await pool.render(quick);
  const pid = getOnlyPid(pool);
  const described = execFileSync("ps", ["eww", "-p", String(pid)], { encoding: "utf8" });
  assert.match(described, /render-worker/);
  assert.doesNotMatch(described, /hush-hush/);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.kill(pid, signal);
  assert.ok((await pool.render(quick)).ok);
  assert.equal(getOnlyPid(pool), pid);
});

test("closing kills the workers and fails what is under way", async () => {
  const pool = openTestPool();
  await pool.render(quick);
  const pid = getOnlyPid(pool);
  const outcomes = Promise.allSettled([pool.render(slow), pool.render(quick)]);
  await pool.close();
  for (const outcome of await outcomes) {
    assert.ok(outcome.status === "rejected" && outcome.reason instanceof RenderUnavailable);
  }
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  await assert.rejects(pool.render(quick), RenderUnavailable);
  assert.deepEqual(pool.status().workerPids, []);
});

test("a worker that is no longer wanted while it starts is gone all the same, at whatever moment", async () => {
  for (let delayMs = 0; delayMs < 40; delayMs += isQuickRun ? 8 : 2) {
    const pool = openTestPool();
    const outcome = Promise.allSettled([pool.render(quick)]);
    await sleep(delayMs);
    await pool.close();
    await outcome;
    assert.deepEqual(pool.status().workerPids, []);
  }
});
