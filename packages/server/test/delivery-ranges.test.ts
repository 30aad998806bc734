import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { MB } from "@upstow/contract";
import fc from "fast-check";
import { expectError } from "./support/expect-error.ts";
import { read } from "./support/read.ts";
import { onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";
import { onlyOnDisk } from "./support/test-bucket.ts";
import {
  createUploadClient,
  smallBody,
  type UploadClient,
  type UploadedFile,
} from "./support/upload-client.ts";

/** A refusal is not the file: it has the envelope, none of the file's validators, and no cache keeps it. */
async function expectRefusal(answer: Response, status: number): Promise<void> {
  const { headers } = answer;
  expectError({ status: answer.status, headers, body: await answer.json() }, status, "VALIDATION_ERROR");
  const kept = ["cache-control", "etag", "access-control-allow-origin"].map((name) => headers.get(name));
  assert.deepEqual(kept, ["no-store", null, "*"]);
}

onAnyDatabase("delivery of what is asked for", (database) => {
  let app: TestApp;
  let client: UploadClient;
  before(async () => {
    app = await startApp({ database });
    client = createUploadClient(app, (await app.createTenant("pro")).live);
  });
  after(() => app.close());

  describe("conditions", () => {
    const stored = Date.UTC(2027, 0, 2, 3, 4, 5, 678);
    const at = (ms: number) => new Date(ms).toUTCString();
    let file: UploadedFile;
    let etag: string;
    before(async () => {
      app.clock.setTime(stored);
      file = await client.upload();
      etag = (await read(file.url, {}, "HEAD")).headers.get("etag") ?? "";
    });

    const rows: [string, () => Record<string, string>, number][] = [
      ["the tag", () => ({ "if-none-match": etag }), 304],
      ["the tag, weak", () => ({ "if-none-match": `W/${etag}` }), 304],
      ["a list with the tag", () => ({ "if-none-match": `"a,b" ,W/"c", ${etag}` }), 304],
      ["any tag", () => ({ "if-none-match": " * " }), 304],
      ["another tag", () => ({ "if-none-match": '"other"' }), 200],
      ["the tag without quotes", () => ({ "if-none-match": etag.replaceAll('"', "") }), 200],
      ["a tag that holds the tag", () => ({ "if-none-match": `"x${etag.slice(1)}` }), 200],
      ["garbage", () => ({ "if-none-match": '"""",,W/' }), 200],
      ["a date, equal", () => ({ "if-modified-since": at(stored) }), 304],
      ["a date, later", () => ({ "if-modified-since": at(stored + 5000) }), 304],
      ["a date, a second before", () => ({ "if-modified-since": at(stored - 1000) }), 200],
      ["a date in the old form", () => ({ "if-modified-since": "Saturday, 02-Jan-27 03:04:05 GMT" }), 304],
      ["a date in the asctime form", () => ({ "if-modified-since": "Sat Jan  2 03:04:05 2027" }), 304],
      ["no date", () => ({ "if-modified-since": "tomorrow" }), 200],
      ["a date that is none of HTTP", () => ({ "if-modified-since": "2099-01-01" }), 200],
      ["a number", () => ({ "if-modified-since": "9999" }), 200],
      ["another tag, a good date", () => ({ "if-none-match": '"o"', "if-modified-since": at(stored) }), 200],
      ["the tag, an old date", () => ({ "if-none-match": etag, "if-modified-since": at(0) }), 304],
      ["if-match the tag", () => ({ "if-match": `"x", ${etag}` }), 200],
      ["if-match any", () => ({ "if-match": "*" }), 200],
      ["unmodified since then", () => ({ "if-unmodified-since": at(stored) }), 200],
      ["unmodified since nonsense", () => ({ "if-unmodified-since": "x" }), 200],
      ["the tag with a range", () => ({ "if-none-match": etag, range: "bytes=0-1" }), 304],
    ];
    for (const [name, headers, status] of rows) {
      it(`${name}: ${status}`, async () => {
        for (const method of ["GET", "HEAD"]) {
          const answer = await read(file.url, headers(), method);
          assert.equal(answer.status, status);
          const body = await answer.text();
          if (status === 304) assert.equal(answer.headers.get("content-length"), null);
          assert.equal(answer.headers.get("etag"), etag);
          assert.equal(body, status === 200 && method === "GET" ? smallBody.toString() : "");
        }
      });
    }

    const refused: [string, () => Record<string, string>][] = [
      ["if-match another", () => ({ "if-match": '"other"' })],
      ["if-match weak", () => ({ "if-match": `W/${etag}` })],
      ["unmodified since before", () => ({ "if-unmodified-since": at(stored - 1000) })],
    ];
    for (const [name, headers] of refused) {
      it(`${name}: 412`, async () => {
        await expectRefusal(await read(file.url, headers()), 412);
        const head = await read(file.url, headers(), "HEAD");
        assert.deepEqual([head.status, head.headers.get("cache-control")], [412, "no-store"]);
      });
    }

    const ranged: [string, () => string, number][] = [
      ["the tag", () => etag, 206],
      ["the tag, weak", () => `W/${etag}`, 200],
      ["another tag", () => '"other"', 200],
      ["a list", () => `${etag}, "x"`, 200],
      ["the date", () => at(stored), 206],
      ["another date", () => at(stored + 1000), 200],
      ["an older date", () => at(stored - 1000), 200],
      ["nonsense", () => "x", 200],
    ];
    for (const [name, ifRange, status] of ranged) {
      it(`If-Range with ${name}: ${status}`, async () => {
        const answer = await read(file.url, { range: "bytes=1-3", "if-range": ifRange() });
        assert.equal(answer.status, status);
        assert.equal(await answer.text(), status === 206 ? "ell" : smallBody.toString());
      });
    }
  });

  describe("ranges", () => {
    const text = smallBody.toString();
    const rows: [string, number, string][] = [
      ["bytes=0-0", 206, "h"],
      ["bytes=0-4", 206, "hello"],
      ["bytes=6-", 206, "bytes"],
      ["bytes=-5", 206, "bytes"],
      ["bytes=-999", 206, text],
      ["bytes=0-999999999999999999999", 206, text],
      ["bytes=10-10", 206, "s"],
      ["BYTES=0-1", 206, "he"],
      ["bytes=11-", 416, ""],
      ["bytes=11-20", 416, ""],
      ["bytes=-0", 416, ""],
      ["bytes=99999999999999999999-", 416, ""],
      ["bytes=5-2", 200, text],
      ["bytes=0-1,3-4", 200, text],
      ["bytes=", 200, text],
      ["bytes=-", 200, text],
      ["bytes=a-b", 200, text],
      ["bytes=0x1-2", 200, text],
      ["bytes=1.0-2", 200, text],
      ["bytes=--1", 200, text],
      ["bytes=+1-2", 200, text],
      ["bytes 0-1", 200, text],
      ["items=0-1", 200, text],
      ["0-1", 200, text],
      ["bytes=0-1;x", 200, text],
    ];
    let url: string;
    before(async () => {
      url = (await client.upload()).url;
    });
    for (const [range, status, body] of rows) {
      it(`${range}: ${status}`, async () => {
        const answer = await read(url, { range });
        assert.equal(answer.status, status);
        const contentRange = answer.headers.get("content-range");
        if (status === 416) {
          assert.equal(contentRange, `bytes */${text.length}`);
          await expectRefusal(answer, status);
          return;
        }
        assert.equal(await answer.text(), body);
        if (status === 206) {
          const start = text.indexOf(body);
          assert.equal(contentRange, `bytes ${start}-${start + body.length - 1}/${text.length}`);
          assert.equal(answer.headers.get("content-length"), String(body.length));
        } else assert.equal(contentRange, null);
      });
    }

    // s3-storage.test.ts reads across a bucket's seams.
    const itOnDisk = onlyOnDisk("a bucket takes no small part but the last");
    itOnDisk("of a file in parts are the same bytes wherever the seams are", async () => {
      const pieces = [5 * MB, 70_000, 3, 5 * MB, 65_536, 1].map((size) => randomBytes(size));
      const whole = Buffer.concat(pieces);
      const sized = createUploadClient(app, app.owner.live);
      // Six parts need a file that is offered six.
      const filler = randomBytes(25 * MB + 1 - whole.length);
      const all = Buffer.concat([whole, filler]);
      const file = await sized.uploadPieces([
        ...pieces.slice(0, 5),
        Buffer.concat([...pieces.slice(5), filler]),
      ]);
      const seams: number[] = [];
      for (const piece of pieces) seams.push((seams.at(-1) ?? 0) + piece.length);
      const nearSeam = fc
        .tuple(fc.constantFrom(0, ...seams, all.length), fc.integer({ min: -3, max: 3 }))
        .map(([seam, off]) => Math.min(all.length - 1, Math.max(0, seam + off)));
      const position = fc.oneof(nearSeam, fc.integer({ min: 0, max: all.length - 1 }));
      // Long enough for all seams between the small pieces; the whole file is read once.
      const length = fc.integer({ min: 1, max: 200_000 });
      await fc.assert(
        fc.asyncProperty(position, length, async (start, wanted) => {
          const end = Math.min(all.length, start + wanted);
          const answer = await read(file.url, { range: `bytes=${start}-${end - 1}` });
          assert.equal(answer.status, 206);
          const bytes = Buffer.from(await answer.arrayBuffer());
          assert.ok(bytes.equals(all.subarray(start, end)), `${start}-${end - 1}`);
        }),
        {
          numRuns: 60,
          examples: [[0, all.length], ...seams.slice(0, 5).map((seam): [number, number] => [seam - 1, 2])],
        },
      );
    });
  });
});
