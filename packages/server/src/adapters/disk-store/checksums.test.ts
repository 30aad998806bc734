import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { hash, randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { StorageUnavailable } from "../../ports/object-store.ts";
import { type ChecksumWorker, startChecksumWorker, type Ticket } from "./checksum-worker.ts";
import { type ChecksumOptions, type Checksums, createChecksums } from "./checksums.ts";

const largestBodyBytes = 16 * 1024;
const sha256 = (bytes: Buffer) => hash("sha256", bytes);

function open(t: { after: (close: () => Promise<void>) => void }, options: Partial<ChecksumOptions>) {
  const checksums = createChecksums({ largestBodyBytes, loadBytes: 0, isSlow: () => true, ...options });
  t.after(checksums.close);
  return checksums;
}

/** A stream on a thread takes its time; one that is hashed here has nothing left to do. */
async function isOnThread(checksums: Checksums, sizeBytes: number): Promise<boolean> {
  const hashing = checksums.ofStream(sizeBytes, true).onWritten([Buffer.from("chunk")]);
  await hashing;
  return hashing !== null;
}

async function digestInChunks(checksums: Checksums, chunks: Buffer[]): Promise<string> {
  const stream = checksums.ofStream(1, true);
  for (const chunk of chunks) stream.onArrived(chunk);
  for (const [index] of chunks.entries()) await stream.onWritten(chunks.slice(index, index + 1));
  return stream.digest();
}

/** Posts as many as there is room for. */
function fillRing(worker: ChecksumWorker): { body: Buffer; ticket: Ticket }[] {
  const posted = [];
  // A quick thread would make room for ever.
  while (posted.length < 128) {
    const body = randomBytes(100);
    const ticket = worker.post(body);
    if (ticket === null) break;
    posted.push({ body, ticket });
  }
  return posted;
}

/** Messages are answered after all bodies that were posted before them. */
async function untilPassed(worker: ChecksumWorker): Promise<void> {
  await worker.openStream().update([Buffer.from("chunk")]);
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

    it("are those of streams that come side by side, with bodies between them", async (t) => {
      const checksums = open(t, { isSlow: () => isSlow });
      await Promise.all(
        Array.from({ length: 20 }, async (_, count) => {
          const chunks = Array.from({ length: count }, () => randomBytes(Math.random() * 200_000));
          const whole = Buffer.concat(chunks);
          const body = randomBytes(5000);
          const read = checksums.ofBody(body);
          assert.equal(await digestInChunks(checksums, chunks), sha256(whole));
          assert.equal(read(), sha256(body));
        }),
      );
    });

    it("take a piece of a larger memory for that piece alone", async (t) => {
      const checksums = open(t, { isSlow: () => isSlow });
      const memory = Buffer.from("before|chunk|after");
      const stream = checksums.ofStream(5, true);
      const chunk = memory.subarray(7, 12);
      stream.onArrived(chunk);
      await stream.onWritten([chunk]);
      assert.equal(await stream.digest(), sha256(Buffer.from("chunk")));
      assert.equal(memory.toString(), "before|chunk|after", "the rest is still somebody's");
    });

    it("free the memory of chunks that are written, unless they are somebody else's", async (t) => {
      const checksums = open(t, { isSlow: () => isSlow });
      for (const isOwned of [true, false]) {
        const memory = new ArrayBuffer(1000);
        const stream = checksums.ofStream(1000, isOwned);
        stream.onArrived(Buffer.from(memory));
        await stream.onWritten([Buffer.from(memory)]);
        assert.equal(memory.byteLength, isOwned ? 0 : 1000);
        assert.equal(await stream.digest(), sha256(Buffer.alloc(1000)));
      }
    });

    it("let a stream be given up while its last chunk is written", async (t) => {
      const checksums = open(t, { isSlow: () => isSlow });
      const stream = checksums.ofStream(10, true);
      const first = stream.onWritten([Buffer.from("first")]);
      stream.abandon();
      await first;
      await stream.onWritten([Buffer.from("second")]);
      assert.equal(await digestInChunks(checksums, [Buffer.from("another")]), sha256(Buffer.from("another")));
    });
  });
}

describe("the thread for checksums", () => {
  it("is started by many bytes within a second, and by one large body", async (t) => {
    let nowMs = 0;
    const checksums = open(t, { loadBytes: 1000, now: () => nowMs });
    for (let second = 0; second < 5; second++, nowMs += 1000)
      assert.equal(await isOnThread(checksums, 600), false, "600 bytes a second");
    nowMs -= 1;
    assert.equal(await isOnThread(checksums, 600), true, "twice as many");
    assert.equal(await isOnThread(checksums, 1), true, "it stays");
    assert.equal(await isOnThread(open(t, { loadBytes: 1000 }), 1000), true);
  });

  it("is not started where a processor is quick at it", async (t) => {
    assert.equal(await isOnThread(open(t, { isSlow: () => false }), 1e9), false);
  });

  it("may end: streams of before fail and are told so, all others are hashed here", async (t) => {
    const checksums = open(t, {});
    const stream = checksums.ofStream(10, true);
    await stream.onWritten([Buffer.from("first")]);
    const body = randomBytes(10_000);
    const read = checksums.ofBody(body);
    await checksums.close();
    assert.equal(read(), sha256(body));
    assert.equal(checksums.ofBody(body)(), sha256(body));
    await assert.rejects(stream.digest(), StorageUnavailable);
    await assert.rejects(async () => stream.onWritten([Buffer.from("second")]), StorageUnavailable);
    assert.equal(await isOnThread(checksums, 1e9), false);
  });

  it("tells those who wait for it when it ends", async () => {
    const worker = startChecksumWorker(largestBodyBytes, () => {});
    const waiting = worker.openStream().update([randomBytes(50_000_000)]);
    const refused = assert.rejects(waiting, StorageUnavailable);
    await worker.close();
    await refused;
  });

  it("refuses bodies once its ring is full, and takes them again", async (t) => {
    const worker = startChecksumWorker(largestBodyBytes, () => {});
    t.after(worker.close);
    const posted = fillRing(worker);
    assert.equal(worker.post(randomBytes(10)), null, "the thread has not started yet");
    await untilPassed(worker);
    for (const { body, ticket } of posted) assert.equal(ticket.take(), sha256(body));
    assert.notEqual(worker.post(randomBytes(10)), null);
  });

  it("gives no digest while it is at it for long, and the right one after that", async (t) => {
    const body = randomBytes(8_000_000);
    const worker = startChecksumWorker(body.length, () => {});
    t.after(worker.close);
    await untilPassed(worker);
    const ticket = worker.post(body);
    const begun = performance.now();
    while (performance.now() - begun < 2);
    // The first is null, unless this thread was held up.
    for (let reading = 0; reading < 2; reading++, await untilPassed(worker))
      assert.equal(ticket?.take() ?? sha256(body), sha256(body));
  });

  it("gives no digest for a body that was taken back, now or later", async (t) => {
    const worker = startChecksumWorker(largestBodyBytes, () => {});
    t.after(worker.close);
    const posted = fillRing(worker);
    for (const { ticket } of posted) assert.equal(ticket.take(), null, "the thread has not started yet");
    for (const { ticket } of posted) assert.equal(ticket.take(), null, "still");
    await untilPassed(worker);
    for (const { ticket } of posted) assert.equal(ticket.take(), null, "the thread has passed it over");
  });

  it("gives no digest of another body where a slot has been used again", async (t) => {
    const worker = startChecksumWorker(largestBodyBytes, () => {});
    t.after(worker.close);
    const before = fillRing(worker);
    await untilPassed(worker);
    const after = fillRing(worker);
    await untilPassed(worker);
    assert.ok(after.length >= before.length);
    for (const { ticket } of before) assert.equal(ticket.take(), null);
    for (const { body, ticket } of after) assert.equal(ticket.take(), sha256(body));
  });

  it("goes round its ring for longer than it can count, and hears messages meanwhile", async (t) => {
    const worker = startChecksumWorker(largestBodyBytes, () => {});
    t.after(worker.close);
    for (let round = 0; round < 5; round++) {
      const posted = fillRing(worker);
      await untilPassed(worker);
      for (const { body, ticket } of posted) assert.equal(ticket.take(), sha256(body));
    }
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
