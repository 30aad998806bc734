import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { hash, randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import {
  type ChecksumOptions,
  type Checksums,
  type ChecksumWorker,
  createChecksums,
  slot,
  startChecksumWorker,
  type Ticket,
} from "./checksums.ts";

const largestBodyBytes = 16 * 1024;
const ringLength = 128;
const sha256 = (bytes: Buffer) => hash("sha256", bytes);

interface Opened extends Checksums {
  hasWorker(): boolean;
}

interface TestContext {
  after: (close: () => Promise<void>) => void;
}

function open(t: TestContext, options: Partial<ChecksumOptions>): Opened {
  let started = 0;
  const checksums = createChecksums({
    largestBodyBytes,
    loadBytes: 0,
    isSlow: () => true,
    startWorker(...args) {
      started++;
      return startChecksumWorker(...args);
    },
    ...options,
  });
  t.after(checksums.close);
  return { ...checksums, hasWorker: () => started === 1 };
}

function openWorker(t: TestContext, slotBytes = largestBodyBytes): ChecksumWorker {
  const worker = startChecksumWorker(slotBytes, () => {});
  t.after(worker.close);
  return worker;
}

function post(worker: ChecksumWorker, count: number): { body: Buffer; ticket: Ticket }[] {
  const posted = [];
  for (let i = 0; i < count; i++) {
    const body = randomBytes(100);
    const ticket = worker.post(body);
    if (ticket !== null) posted.push({ body, ticket });
  }
  return posted;
}

/** The ring is taken in order: once the thread has come to this body, it has come to all before it. */
async function untilPassed(worker: ChecksumWorker): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const body = randomBytes(10);
    const ticket = worker.post(body);
    await wait(10);
    if (ticket?.take() === sha256(body)) return;
  }
  assert.fail("the thread never gave a digest");
}

async function untilWoken(posted: Int32Array): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (Atomics.notify(posted, 0) === 1) return;
    await wait(10);
  }
  assert.fail("the thread does not sleep");
}

for (const isSlow of [true, false]) {
  describe(`checksums ${isSlow ? "on a thread" : "on the event loop"}`, () => {
    it("are those of bodies of all lengths", async (t) => {
      const checksums = open(t, { isSlow: () => isSlow });
      for (let round = 0; round < 3; round++) {
        for (const length of [0, 1, 63, 64, 10_240, largestBodyBytes]) {
          const body = randomBytes(length);
          assert.equal(checksums.ofBody(body)(), sha256(body));
          const other = randomBytes(length);
          const read = checksums.ofBody(other);
          await wait(2);
          assert.equal(read(), sha256(other), "also once the thread has had its time");
          assert.equal(read(), sha256(other), "and once more");
        }
      }
    });

    it("are those of many bodies at once, whether they are read, read late, or never", async (t) => {
      const checksums = open(t, { isSlow: () => isSlow });
      for (let round = 0; round < 5; round++) {
        const bodies = Array.from({ length: 300 }, () => randomBytes(Math.random() * largestBodyBytes));
        const reads = bodies.map((body) => ({ body, read: checksums.ofBody(body) }));
        if (round % 2 === 1) await wait(5);
        for (const [index, { body, read }] of reads.reverse().entries())
          if (index % 3 > 0) assert.equal(read(), sha256(body));
      }
    });
  });
}

describe("the thread for checksums", () => {
  it("is started by many bytes within a second, once", (t) => {
    let nowMs = 0;
    const checksums = open(t, { loadBytes: 1000, now: () => nowMs });
    for (let second = 0; second < 5; second++, nowMs += 1000) checksums.ofBody(Buffer.alloc(600));
    assert.equal(checksums.hasWorker(), false, "600 bytes a second");
    nowMs -= 1;
    for (let more = 0; more < 5; more++) checksums.ofBody(Buffer.alloc(600));
    assert.equal(checksums.hasWorker(), true, "more than 1,000");
  });

  it("is not started where a processor is quick at it", (t) => {
    const checksums = open(t, { isSlow: () => false });
    checksums.ofBody(Buffer.alloc(600));
    assert.equal(checksums.hasWorker(), false);
  });

  it("may end: bodies are hashed here then, and no other thread is started", async (t) => {
    const checksums = open(t, {});
    const body = randomBytes(10_000);
    const read = checksums.ofBody(body);
    await checksums.close();
    assert.equal(read(), sha256(body));
    assert.equal(checksums.ofBody(body)(), sha256(body));
    assert.equal(checksums.hasWorker(), true, "one, the first");
  });

  it("refuses bodies once its ring is full, and takes them again", async (t) => {
    const worker = openWorker(t);
    assert.equal(post(worker, ringLength + 10).length, ringLength, "the thread has not started yet");
    await untilPassed(worker);
    assert.notEqual(worker.post(randomBytes(10)), null);
  });

  it("gives no digest while it is at it for long, and the right one after that", async (t) => {
    const body = randomBytes(8_000_000);
    const worker = openWorker(t, body.length);
    await untilPassed(worker);
    const ticket = worker.post(body);
    const begun = performance.now();
    while (performance.now() - begun < 2);
    // The first is null, unless this thread was held up.
    for (let reading = 0; reading < 2; reading++, await untilPassed(worker))
      assert.equal(ticket?.take() ?? sha256(body), sha256(body));
  });

  it("gives no digest for a body that was taken back, now or later", async (t) => {
    const worker = openWorker(t);
    const posted = post(worker, 100);
    for (const { ticket } of posted) assert.equal(ticket.take(), null, "the thread has not started yet");
    for (const { ticket } of posted) assert.equal(ticket.take(), null, "still");
    await untilPassed(worker);
    for (const { ticket } of posted) assert.equal(ticket.take(), null, "the thread has passed it over");
  });

  it("gives the digests of all bodies, round after round, and none where a slot has been used again", async (t) => {
    const worker = openWorker(t);
    await untilPassed(worker);
    let before: Ticket[] = [];
    for (let round = 0; round < 5; round++) {
      const posted = post(worker, 100);
      await untilPassed(worker);
      for (const { body, ticket } of posted.slice(0, 50)) assert.equal(ticket.take(), sha256(body));
      post(worker, 28);
      for (const ticket of before) assert.equal(ticket.take(), null);
      before = posted.map(({ ticket }) => ticket);
      await untilPassed(worker);
    }
  });

  it("goes back to sleep when it is woken for nothing", async (t) => {
    const share = () => new Int32Array(new SharedArrayBuffer(4));
    const posted = share();
    const thread = new Worker(new URL("./checksum-thread.mjs", import.meta.url), {
      workerData: { posted, states: share(), slot, firstTurn: 0, lastTurn: 2 ** 30 - 1 },
    });
    t.after(() => thread.terminate());
    for (let times = 0; times < 3; times++) await untilWoken(posted);
  });

  for (const [name, flags] of [
    ["does not hold its process", []],
    ["is done without where none is allowed", ["--permission", "--allow-fs-read=*"]],
  ] as const) {
    it(name, async () => {
      const program = `
        import { createChecksums } from ${JSON.stringify(new URL("./checksums.ts", import.meta.url).href)};
        const checksums = createChecksums({ largestBodyBytes: 16384, loadBytes: 0, isSlow: () => true });
        const body = Buffer.from("body");
        checksums.ofBody(body);
        console.log(checksums.ofBody(body)());`;
      const args = ["--disable-warning=ExperimentalWarning", ...flags, "--input-type=module", "-e", program];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout: 20_000 });
      assert.deepEqual({ stdout, stderr }, { stdout: `${sha256(Buffer.from("body"))}\n`, stderr: "" });
    });
  }
});
