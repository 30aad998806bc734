import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import type { Queryable } from "../../../src/db/database.ts";
import type {
  Appends,
  AppendTarget,
  FinishAppend,
  FinishMultipartResult,
  Progress,
} from "../../../src/storage/object-store.ts";
import { type ContractSubject, contentType, newKey } from "./contract-subject.ts";

const mib = 1024 * 1024;

type Transact = (work: (tx: Queryable) => Promise<void>) => Promise<void> | undefined;

/** Files that grow append by append. A store with its records in a database shares its caller's transaction. */
export function describeAppends(subject: ContractSubject, transact: Transact): void {
  const appends = (): Appends => subject.store.appends;

  async function begin(sizeBytes: number): Promise<AppendTarget> {
    const key = newKey("appended");
    const uploadId = await subject.store.startMultipart({ key, contentType, sizeBytes });
    return { key, uploadId, contentType, offset: 0, state: appends().start(sizeBytes) };
  }

  /** Sends pieces and returns what was saved, each time. */
  async function send(
    target: AppendTarget,
    bytes: Buffer,
    options: { total: number; verify?: () => void; finish?: () => FinishAppend | null },
  ) {
    const saved: Progress[] = [];
    async function* chunks() {
      for (let at = 0; at < bytes.length; at += 700_000) yield Buffer.from(bytes.subarray(at, at + 700_000));
    }
    const last = target.offset + bytes.length === options.total;
    const { total: _, ...rest } = options;
    await appends().append(
      target,
      { chunks: chunks(), expectedBytes: bytes.length, isOwned: false, isLast: () => last, ...rest },
      async (progress, work) => {
        if (work !== undefined) await transact(work);
        saved.push(progress);
      },
    );
    return saved;
  }

  async function finish(target: AppendTarget): Promise<void> {
    const done = await appends().finish(target);
    assert.ok(done.ok, JSON.stringify(done));
  }

  describe("appends", () => {
    test("grow an object by pieces of any size, and save only what is durable", async () => {
      const whole = randomBytes(12 * mib + 17);
      let target = await begin(whole.length);
      const cuts = [0, 1, 1000, 3 * mib, 3 * mib + 5, 9 * mib, whole.length - 1, whole.length];
      for (const [i, from] of cuts.slice(0, -1).entries()) {
        const to = cuts[i + 1] ?? 0;
        const saved = await send(target, whole.subarray(from, to), { total: whole.length });
        const offsets = saved.map(({ offset }) => offset);
        assert.deepEqual(
          offsets,
          offsets.toSorted((a, b) => a - b),
        );
        assert.equal(offsets.at(-1), to);
        target = { ...target, ...saved.at(-1) };
      }
      await finish(target);
      await subject.assertReads(target.key, whole);
    });

    test("of which one that nobody saved leaves nothing behind", async () => {
      const whole = randomBytes(6 * mib);
      let target = await begin(whole.length);
      target = { ...target, ...(await send(target, whole.subarray(0, mib), { total: whole.length })).at(-1) };
      const lost = randomBytes(whole.length - mib);
      await assert.rejects(
        appends().append(
          target,
          {
            chunks: (async function* () {
              yield lost;
            })(),
            expectedBytes: lost.length,
            isOwned: false,
            isLast: () => true,
          },
          async () => {
            throw new Error("taken over");
          },
        ),
        /taken over/,
      );
      const saved = await send(target, whole.subarray(mib), { total: whole.length });
      target = { ...target, ...saved.at(-1) };
      await finish(target);
      await subject.assertReads(target.key, whole);
    });

    test("keep nothing of a body that is not what was announced", async () => {
      const whole = randomBytes(6 * mib);
      let target = await begin(whole.length);
      const verify = () => {
        throw new Error("wrong checksum");
      };
      await assert.rejects(
        send(target, whole.map((byte) => ~byte) as Buffer, { total: whole.length, verify }),
        /wrong/,
      );
      const saved = await send(target, whole, { total: whole.length, verify: () => {} });
      assert.deepEqual(
        saved.map(({ offset }) => offset),
        [whole.length],
      );
      target = { ...target, ...saved.at(-1) };
      await finish(target);
      await subject.assertReads(target.key, whole);
    });

    test("end in the transaction that saves the last of them, and once more after a crash", async () => {
      for (const cuts of [
        [0, 9],
        [0, 200_000],
        [0, 1000, 30_000],
        [0, 3 * mib, 3 * mib + 9],
      ]) {
        const whole = randomBytes(cuts.at(-1) ?? 0);
        let target = await begin(whole.length);
        const sealed: FinishMultipartResult[] = [];
        for (const [i, from] of cuts.slice(0, -1).entries()) {
          const to = cuts[i + 1] ?? 0;
          const finish: FinishAppend = async (progress, seal) => {
            await transact(async (tx) => void sealed.push(await seal(tx)));
            target = { ...target, ...progress };
          };
          const options = { total: whole.length, finish: () => (to === whole.length ? finish : null) };
          const saved = await send(target, whole.subarray(from, to), options);
          target = { ...target, ...saved.at(-1) };
        }
        assert.equal(target.offset, whole.length);
        for (let times = 0; times < 2; times++) sealed.push(await appends().finish(target));
        for (const done of sealed) {
          assert.ok(done.ok, JSON.stringify(done));
          assert.equal(done.object.sizeBytes, whole.length);
          assert.deepEqual(done.object, sealed[0]?.ok && sealed[0].object);
        }
        await subject.assertReads(target.key, whole);
      }
    });

    test("end where the length becomes known only afterwards", async () => {
      const whole = randomBytes(5000);
      let target = await begin(10 * mib);
      target = { ...target, ...(await send(target, whole, { total: -1 })).at(-1) };
      await finish(target);
      await subject.assertReads(target.key, whole);
      await appends().discard(target);
    });
  });
}
