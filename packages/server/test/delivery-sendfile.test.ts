import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { MB } from "@upstow/contract";
import { readConfig } from "../src/config.ts";
import { startApp, type TestApp } from "./support/start-app.ts";
import { onDisk, onlyOnDisk } from "./support/test-bucket.ts";
import { createUploadClient, smallBody } from "./support/upload-client.ts";

const viaProxy = { "x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.7" };
const spoofed = {
  "x-sendfile-type": "X-Accel-Redirect",
  "x-accel-mapping": "/=/secret/",
  "x-accel-redirect": "/secret/",
};

/** Too long to be a row of the database, which no proxy can send. */
const all = "0123456789".repeat(10_000);

async function withApp(env: Record<string, string>, work: (app: TestApp) => Promise<void>) {
  const app = await startApp({ env });
  try {
    await work(app);
  } finally {
    await app.close();
  }
}

const itOnDisk = onlyOnDisk("a proxy sends files that lie beside it");

describe("a proxy that sends files in our place", () => {
  for (const [header, prefix] of [
    ["x-accel-redirect", "/internal/objects/"],
    ["x-sendfile", "/srv/upstow/data/objects/"],
  ] as const) {
    itOnDisk(`is told the file by ${header}, with every other header as ever`, () =>
      withApp(
        { UPSTOW_SENDFILE: `${header}:${prefix}`, UPSTOW_TRUSTED_PROXIES: "127.0.0.1" },
        async (app) => {
          const client = createUploadClient(app, app.owner.live);
          const bytes = randomBytes(100_000);
          const file = await client.upload(bytes, { contentType: "image/svg+xml", fileName: "ö.svg" });
          const before = (await client.usage()).bandwidthBytes;
          const head = await fetch(file.url, { method: "HEAD", headers: viaProxy });
          const answer = await fetch(file.url, { headers: { ...viaProxy, ...spoofed } });
          assert.equal(answer.status, 200);
          assert.equal(await answer.text(), "");
          const path = answer.headers.get(header) ?? "";
          assert.ok(path.startsWith(prefix), path);
          const stored = await readFile(join(app.dataDir, "objects", path.slice(prefix.length)));
          assert.ok(stored.equals(bytes));
          for (const name of [
            ...["content-type", "content-disposition", "content-security-policy", "etag", "last-modified"],
            ...["x-content-type-options", "cache-control", "access-control-allow-origin"],
          ])
            assert.equal(answer.headers.get(name), head.headers.get(name), name);
          assert.equal(answer.headers.get("content-length"), "0");
          assert.equal(answer.headers.get("accept-ranges"), null, "the proxy's to say");
          assert.equal((await client.usage()).bandwidthBytes, before + bytes.length);

          const part = await fetch(file.url, { headers: { ...viaProxy, range: "bytes=0-99" } });
          assert.deepEqual([part.status, part.headers.get("content-range")], [200, null]);
          assert.equal(part.headers.get(header), path, "the proxy cuts the range itself");
          assert.equal((await client.usage()).bandwidthBytes, before + bytes.length + 100);

          const etag = head.headers.get("etag") ?? "";
          for (const [headers, status] of [
            [{ "if-none-match": etag }, 304],
            [{ range: "bytes=100000-" }, 416],
          ] as const) {
            const own = await fetch(file.url, { headers: { ...viaProxy, ...headers } });
            assert.equal(own.status, status);
            assert.equal(own.headers.get(header), null);
          }
          await client.remove(file.key);
          const gone = await fetch(file.url, { headers: viaProxy });
          assert.deepEqual([gone.status, gone.headers.get(header)], [404, null]);
        },
      ),
    );
  }

  itOnDisk("is not told of a file where it would judge conditions or ranges anew", () =>
    withApp(
      { UPSTOW_SENDFILE: "X-Accel-Redirect:/internal/", UPSTOW_TRUSTED_PROXIES: "127.0.0.1" },
      async (app) => {
        const { url } = await createUploadClient(app, app.owner.live).upload(Buffer.from(all));
        const { headers } = await fetch(url, { method: "HEAD", headers: viaProxy });
        const etag = headers.get("etag") ?? "";
        const modified = headers.get("last-modified") ?? "";
        for (const [asked, status, body] of [
          [{ "if-match": etag }, 200, all],
          [{ "if-match": "*" }, 200, all],
          [{ "if-unmodified-since": modified }, 200, all],
          [{ range: "bytes=0-3", "if-range": etag }, 206, all.slice(0, 4)],
          [{ range: "bytes=0-3", "if-range": modified }, 206, all.slice(0, 4)],
          [{ range: "bytes=0-3", "if-range": '"other"' }, 200, all],
          [{ range: "bytes=5-2" }, 200, all],
          [{ range: "bytes=abc" }, 200, all],
          [{ range: "bytes=0-1,3-4" }, 200, all],
          [{ range: "bytes=1-18446744073709551615" }, 206, all.slice(1)],
        ] as const) {
          const answer = await fetch(url, { headers: { ...viaProxy, ...asked } });
          assert.deepEqual([answer.status, await answer.text()], [status, body], JSON.stringify(asked));
          assert.equal(answer.headers.get("x-accel-redirect"), null, JSON.stringify(asked));
          assert.equal(answer.headers.get("accept-ranges"), "bytes");
        }
      },
    ),
  );

  it("gets from us what does not lie in one file on the disk", () =>
    withApp({ UPSTOW_SENDFILE: "X-Sendfile:/objects/", UPSTOW_TRUSTED_PROXIES: "127.0.0.1" }, async (app) => {
      const client = createUploadClient(app, app.owner.live);
      const pieces = [randomBytes(10 * MB), randomBytes(10)];
      const file = await client.uploadPieces(pieces);
      const answer = await fetch(file.url, { headers: viaProxy });
      assert.equal(answer.headers.get("x-sendfile"), null);
      assert.ok(Buffer.from(await answer.arrayBuffer()).equals(Buffer.concat(pieces)));
      if (onDisk) return;
      const single = await fetch((await client.upload()).url, { headers: viaProxy });
      assert.equal(single.headers.get("x-sendfile"), null);
      assert.equal(await single.text(), smallBody.toString());
    }));

  it("is nobody whom the operator did not name, whatever the request says", async () => {
    const setUps = [
      { UPSTOW_SENDFILE: "X-Accel-Redirect:/internal/", UPSTOW_TRUSTED_PROXIES: "192.0.2.1" },
      { UPSTOW_SENDFILE: "X-Accel-Redirect:/internal/" },
      // Asked directly, from the machine that the proxy runs on.
      { UPSTOW_SENDFILE: "X-Accel-Redirect:/internal/", UPSTOW_TRUSTED_PROXIES: "127.0.0.1,::1" },
    ];
    for (const env of setUps) {
      await withApp(env as Record<string, string>, async (app) => {
        const file = await createUploadClient(app, app.owner.live).upload(Buffer.from(all));
        const answer = await fetch(file.url, { headers: spoofed });
        assert.equal(answer.headers.get("x-accel-redirect"), null);
        assert.equal(await answer.text(), all);
      });
    }
    await withApp({ UPSTOW_TRUSTED_PROXIES: "127.0.0.1" }, async (app) => {
      const file = await createUploadClient(app, app.owner.live).upload(Buffer.from(all));
      const answer = await fetch(file.url, { headers: { ...viaProxy, ...spoofed } });
      assert.equal(answer.headers.get("x-accel-redirect"), null);
      assert.equal(await answer.text(), all);
    });
  });

  it("needs a known header and a clean place", () => {
    const set = (value: string) => readConfig({ UPSTOW_SENDFILE: value }).sendfile;
    assert.deepEqual(set("x-accel-redirect:/o/"), { header: "X-Accel-Redirect", prefix: "/o/" });
    assert.deepEqual(set("X-Sendfile:/"), { header: "X-Sendfile", prefix: "/" });
    for (const value of ["X-Sendfile", "X-Sendfile:o/", "X-Sendfile:/o", "Location:/o/", "X-Sendfile:/a?b/"])
      assert.throws(() => set(value), /^ConfigError: UPSTOW_SENDFILE must be like/);
  });
});
