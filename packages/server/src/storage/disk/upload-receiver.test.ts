import assert from "node:assert/strict";
import { request } from "node:http";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { put, readAll, sendRaw, statusOf } from "../../../test/support/storage/contract-client.ts";
import { openTestStore, type TestStore } from "../../../test/support/storage/open-disk-store.ts";

const type = "text/plain";
let opened: TestStore;
before(async () => {
  opened = await openTestStore("sqlite", { idleMs: 1000 });
});
after(() => opened.close());

let lastKey = 0;
async function newUpload(sizeBytes: number) {
  const key = `receiver/${++lastKey}`;
  return { key, url: await opened.store.presignPut({ key, contentType: type, sizeBytes, expiresInSec: 60 }) };
}
const headersOf = (sizeBytes: number) => [`Content-Type: ${type}`, `Content-Length: ${sizeBytes}`];

describe("an edited URL", () => {
  const base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
  const other = (digit: string) => base64url[(base64url.indexOf(digit) + 1) % base64url.length];

  async function assertEveryFlipRefused(url: string, body: string, headers: Record<string, string>) {
    const tokenStart = url.indexOf("/u/") + 3;
    for (let i = tokenStart; i < url.length; i++) {
      const flipped = url.slice(0, i) + other(url[i] ?? "") + url.slice(i + 1);
      assert.equal((await put(flipped, body, headers)).status, 403, `byte ${i - tokenStart}`);
    }
    for (const suffix of ["/", "?a=b", ".", "%00", "A"]) {
      assert.equal(statusOf(await sendRaw(url + suffix, headersOf(3), body)), 403, suffix);
    }
  }

  test("of a single upload is refused, whichever byte it is", async () => {
    const { key, url } = await newUpload(3);
    const before = await opened.listFiles();
    await assertEveryFlipRefused(url, "abc", { "content-type": type });
    assert.equal(await opened.store.findReceived(key), null);
    assert.deepEqual(await opened.listFiles(), before);
  });

  test("of a part is refused, whichever byte it is", async () => {
    const key = `receiver/${++lastKey}`;
    const uploadId = await opened.store.startMultipart({ key, contentType: type, sizeBytes: 3 });
    const presigned = { key, uploadId, sizeBytes: 3, partNumbers: [1], expiresInSec: 60 };
    const [url = ""] = await opened.store.presignParts(presigned);
    await assertEveryFlipRefused(url, "abc", {});
    assert.deepEqual(await opened.store.listParts({ key, uploadId }), []);
    assert.equal((await put(url, "abc")).status, 200);
  });

  test("that was signed with a secret nobody lists any more is refused", async () => {
    await using stranger = await openTestStore("sqlite", {
      secrets: ["another secret that this server never had"],
    });
    const foreign = await stranger.store.presignPut({
      key: "k",
      contentType: type,
      sizeBytes: 3,
      expiresInSec: 60,
    });
    const { url } = await newUpload(3);
    const forged = new URL(new URL(foreign).pathname, url).href;
    assert.equal((await put(forged, "abc", { "content-type": type })).status, 403);
  });
});

describe("a refusal", () => {
  test("comes instead of 100 Continue, and 100 Continue only after the checks", async () => {
    const { key, url } = await newUpload(3);
    const ask = (contentType: string) =>
      new Promise<string[]>((resolve) => {
        const events: string[] = [];
        const headers = { "content-type": contentType, "content-length": 3, expect: "100-continue" };
        const asking = request(url, { method: "PUT", headers });
        asking.on("continue", () => {
          events.push("continue");
          asking.end("abc");
        });
        asking.on("response", (response) => {
          events.push(String(response.statusCode));
          response.resume();
          asking.destroy();
          resolve(events);
        });
        asking.on("error", () => {});
        asking.flushHeaders();
      });
    assert.deepEqual(await ask("text/html"), ["403"]);
    assert.deepEqual(await ask(type), ["continue", "200"]);
    assert.equal((await opened.store.finishPut(key, 3))?.sizeBytes, 3);
  });
});

describe("CORS", () => {
  test("a page of any origin may PUT with any header and read the ETag", async () => {
    const { url } = await newUpload(3);
    const preflight = await fetch(url, {
      method: "OPTIONS",
      headers: {
        origin: "https://elsewhere.example",
        "access-control-request-method": "PUT",
        "access-control-request-headers": "content-type, x-custom, authorization",
      },
    });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get("access-control-allow-origin"), "*");
    assert.equal(preflight.headers.get("access-control-allow-methods"), "PUT");
    assert.equal(
      preflight.headers.get("access-control-allow-headers"),
      "content-type, x-custom, authorization",
    );
    assert.equal(preflight.headers.get("access-control-allow-credentials"), null);
    const answer = await put(url, "abc", { "content-type": type, origin: "https://elsewhere.example" });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("access-control-allow-origin"), "*");
    assert.match(answer.headers.get("access-control-expose-headers") ?? "", /\bETag\b/);
  });

  test("a header list that is no header list is not echoed", async () => {
    const { url } = await newUpload(3);
    const asked = { "access-control-request-headers": "<script>" };
    const preflight = await fetch(url, { method: "OPTIONS", headers: asked });
    assert.equal(preflight.headers.get("access-control-allow-headers"), "*");
  });
});

describe("slow bodies", () => {
  /** Sends `chunk` again and again with pauses until the body is complete or the server has had enough. */
  async function trickle(url: string, sizeBytes: number, chunk: number, pauseMs: number) {
    let answer = "";
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => {});
    socket.setEncoding("latin1").on("data", (text) => {
      answer += text;
      socket.end();
    });
    socket.write(
      `PUT ${new URL(url).pathname} HTTP/1.1\r\nHost: x\r\n${headersOf(sizeBytes).join("\r\n")}\r\n\r\n`,
    );
    for (let sent = 0; sent < sizeBytes && answer === "" && !socket.destroyed; sent += chunk) {
      socket.write(Buffer.alloc(Math.min(chunk, sizeBytes - sent), "s"));
      await sleep(pauseMs);
    }
    await closed;
    return statusOf(answer);
  }

  test("an honest one that takes several windows is kept", async () => {
    const { key, url } = await newUpload(25_000);
    assert.equal(await trickle(url, 25_000, 500, 50), 200);
    assert.equal((await opened.store.finishPut(key, 25_000))?.sizeBytes, 25_000);
  });

  test("a stalled one is cut and leaves nothing", async () => {
    const { key, url } = await newUpload(1_000_000);
    const before = await opened.listFiles();
    assert.equal(await trickle(url, 1_000_000, 10, 100), 408);
    assert.equal(await opened.store.findReceived(key), null);
    assert.deepEqual(await opened.listFiles(), before);
  });
});

describe("a body that arrives while its upload ends", () => {
  async function endMidway(end: (key: string) => Promise<unknown>, upload = newUpload(6)) {
    const { key, url } = await upload;
    const before = (await opened.listFiles()).length;
    const answer = new Promise<number>((resolve, reject) => {
      const sending = request(
        url,
        { method: "PUT", headers: { "content-type": type, "content-length": 6 } },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      sending.on("error", reject);
      sending.write("abc", async () => {
        while ((await opened.listFiles()).length === before) await sleep(5);
        await end(key);
        sending.end("def");
      });
    });
    const status = await answer;
    return { key, status, left: (await opened.listFiles()).length - before };
  }

  test("is refused after a deletion, and nothing stays", async () => {
    const { key, status, left } = await endMidway((deleted) => opened.store.delete([deleted]));
    assert.deepEqual([status, left], [403, 0]);
    assert.equal(await opened.store.findReceived(key), null);
  });

  test("is refused even if the tombstone would have been swept meanwhile", async () => {
    const { status, left } = await endMidway(async (key) => {
      await opened.store.delete([key]);
      const inAMonth = Date.now() + 30 * 86_400_000;
      const report = await opened.store.sweep({ graceMs: 60 * 86_400_000, maxDeletions: 100, now: inAMonth });
      assert.equal(report.tombstones.includes(key), false);
    });
    assert.deepEqual([status, left], [403, 0]);
  });

  test("is refused after an earlier body was made final", async () => {
    const { key, url } = await newUpload(6);
    assert.equal((await put(url, "winner", { "content-type": type })).status, 200);
    const { status } = await endMidway(
      (finished) => opened.store.finishPut(finished, 6),
      Promise.resolve({ key, url }),
    );
    assert.equal(status, 403);
    assert.equal(String(await readAll(opened.store, key)), "winner");
  });
});
