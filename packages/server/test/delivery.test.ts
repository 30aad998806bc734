import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir, truncate, writeFile } from "node:fs/promises";
import { get as httpGet, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { MB } from "@upstow/contract";
import { read } from "./support/read.ts";
import { onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";
import { onlyOnDisk } from "./support/test-bucket.ts";
import { createUploadClient, smallBody, type UploadClient } from "./support/upload-client.ts";

const imagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'; sandbox";
const sealedPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

onAnyDatabase("delivery", (database) => {
  let app: TestApp;
  let client: UploadClient;
  before(async () => {
    app = await startApp({ database });
    client = createUploadClient(app, (await app.createTenant("pro")).live);
  });
  after(() => app.close());

  it("sends a file with all that a browser and a cache need to know", async () => {
    app.clock.setTime(Date.UTC(2027, 0, 2, 3, 4, 5, 678));
    const file = await client.upload();
    const answer = await read(file.url);
    assert.equal(answer.status, 200);
    const { headers } = answer;
    const expected = {
      "content-type": "text/plain",
      "content-length": String(smallBody.length),
      "content-disposition": "inline; filename=\"hello.txt\"; filename*=UTF-8''hello.txt",
      "content-security-policy": imagePolicy,
      "x-content-type-options": "nosniff",
      "accept-ranges": "bytes",
      "cache-control": "public, max-age=0, must-revalidate",
      "last-modified": "Sat, 02 Jan 2027 03:04:05 GMT",
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "ETag, Content-Range, Content-Length, Accept-Ranges",
      "cross-origin-resource-policy": "cross-origin",
    };
    for (const [name, value] of Object.entries(expected)) assert.equal(headers.get(name), value, name);
    assert.match(headers.get("etag") ?? "", /^"[0-9a-f]{32}"$/);
    for (const name of ["cdn-cache-control", "cache-tag", "set-cookie", "access-control-allow-credentials"])
      assert.equal(headers.get(name), null, name);
    assert.equal(await answer.text(), smallBody.toString());
  });

  it("gives equal bytes equal tags, other bytes others", async () => {
    const [a, b, c] = [
      await client.upload(smallBody, { fileName: "a" }),
      await client.upload(smallBody, { fileName: "b" }),
      await client.upload(Buffer.from("HELLO BYTES")),
    ];
    const tags = await Promise.all([a, b, c].map(async ({ url }) => (await read(url)).headers.get("etag")));
    assert.equal(tags[0], tags[1]);
    assert.notEqual(tags[0], tags[2]);
  });

  it("answers HEAD like GET without the body, whatever range is asked for", async () => {
    const { url } = await client.upload();
    const got = await read(url);
    await got.text();
    for (const headers of [{}, { range: "bytes=0-1" }, { range: "bytes=99999-" }]) {
      const head = await read(url, headers as Record<string, string>, "HEAD");
      assert.equal(head.status, 200);
      assert.equal(await head.text(), "");
      for (const [name, value] of got.headers)
        if (!["date", "x-request-id", "connection", "keep-alive"].includes(name))
          assert.equal(head.headers.get(name), value, name);
    }
  });

  it("finds nothing that is not there, and lets no cache remember that", async () => {
    const open = await client.request();
    for (const path of [`/f/${open.key}`, "/f/nope", "/f/", "/f/..%2f..%2fetc%2fpasswd", "/f/%2e%2e/x"]) {
      for (const method of ["GET", "HEAD"]) {
        const answer = await read(app.url + path, {}, method);
        assert.equal(answer.status, 404, path);
      }
    }
    const missing = await read(open.cdnUrl);
    assert.equal(missing.headers.get("cache-control"), "no-store");
    assert.equal(missing.headers.get("access-control-allow-origin"), "*");
    assert.equal(missing.headers.get("etag"), null);
    assert.equal(JSON.parse(await missing.text()).error.code, "NOT_FOUND");
    for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
      const answer = await read(open.cdnUrl, {}, method);
      assert.equal(answer.status, 405);
      assert.match(answer.headers.get("allow") ?? "", /GET, HEAD/);
    }
  });

  it("answers a preflight for reading with conditions and ranges", async () => {
    const { url } = await client.upload();
    const answer = await read(
      url,
      {
        origin: "https://elsewhere.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": "range,if-none-match",
      },
      "OPTIONS",
    );
    assert.equal(answer.status, 204);
    assert.equal(answer.headers.get("access-control-allow-origin"), "*");
    assert.equal(answer.headers.get("access-control-allow-methods"), "GET, HEAD");
    for (const name of ["Range", "If-Range", "If-None-Match", "If-Modified-Since"])
      assert.ok(answer.headers.get("access-control-allow-headers")?.split(", ").includes(name));
    assert.equal(answer.headers.get("access-control-allow-credentials"), null);
  });

  describe("types", () => {
    const inline = ["inline", imagePolicy] as const;
    const sealed = ["attachment", sealedPolicy] as const;
    const rows: [string, readonly [string, string | null], string?][] = [
      ["image/png", inline],
      ["IMAGE/PNG", inline],
      ["image/jpeg; q=1", inline],
      ["image/jpg", inline],
      ["image/webp", inline],
      ["image/avif", inline],
      ["image/gif", inline],
      ["audio/mpeg", inline],
      ['video/mp4; codecs="avc1"', inline],
      ["text/plain", inline],
      ["text/plain; charset=utf-8", inline],
      ["application/pdf", ["inline", null]],
      ["image/svg+xml", sealed],
      ["IMAGE/SVG+XML; x=1", sealed],
      ["text/html", sealed],
      ["text/html; charset=utf-8", sealed],
      ["application/xhtml+xml", sealed],
      ["text/xml", sealed],
      ["application/xml", sealed],
      ["application/javascript", sealed],
      ["text/javascript", sealed],
      ["text/css", sealed],
      ["application/json", sealed],
      ["application/octet-stream", sealed],
      ["application/zip", sealed],
      ["multipart/x-mixed-replace; boundary=x", sealed],
      ["x/y", sealed],
      ["application/pdf;,text/html", ["inline", null], "application/pdf"],
      ["image/png;a=b,text/html;c=d", inline, "image/png"],
      ['text/plain;x="a,text/html"', inline, "text/plain"],
      ['text/plain; x="unclosed, text/html', inline, "text/plain"],
      ["text/plain;;", inline, "text/plain"],
    ];
    for (const [type, [disposition, policy], sent = type] of rows) {
      it(`${type}: ${disposition}`, async () => {
        const { url, type: kept } = await client.upload(smallBody, { contentType: type });
        assert.equal(kept, type);
        const answer = await read(url);
        await answer.text();
        assert.equal(answer.headers.get("content-type"), sent);
        assert.ok(answer.headers.get("content-disposition")?.startsWith(`${disposition}; filename=`));
        assert.equal(answer.headers.get("content-security-policy"), policy);
        assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
      });
    }
  });

  describe("names in Content-Disposition", () => {
    const rows: [string, string, string][] = [
      ['evil"; filename="x.html', "evil_; filename=_x.html", "evil%22%3B%20filename%3D%22x.html"],
      ["a\r\nSet-Cookie: x=1", "aSet-Cookie: x=1", "aSet-Cookie%3A%20x%3D1"],
      ["🎉.png", "__.png", "%F0%9F%8E%89.png"],
      ["naïve.txt", "na_ve.txt", "na%C3%AFve.txt"],
      ["\u202egpj.exe", "gpj.exe", "gpj.exe"],
      ["a\\b/c", "a_b_c", "a_b_c"],
      ["100%20.txt", "100_20.txt", "100%2520.txt"],
      ["it's (1)*.txt", "it's (1)*.txt", "it%27s%20%281%29%2A.txt"],
      ['"', "_", "%22"],
    ];
    for (const [name, ascii, extended] of rows) {
      it(JSON.stringify(name), async () => {
        const { url } = await client.upload(smallBody, { fileName: name });
        const { raw, headers } = await rawHead(url);
        assert.equal(
          headers["content-disposition"],
          `inline; filename="${ascii}"; filename*=UTF-8''${extended}`,
        );
        assert.equal(raw.filter((header) => /^(?:content-disposition|set-cookie)$/i.test(header)).length, 1);
      });
    }
  });

  describe("bandwidth", () => {
    const bandwidth = async () => (await client.usage()).bandwidthBytes;

    it("is what was sent: whole, ranges, and nothing for HEAD, 304, 404, 412 and 416", async () => {
      const file = await client.upload(randomBytes(200_000), { contentType: "application/octet-stream" });
      const etag = (await read(file.url, {}, "HEAD")).headers.get("etag") ?? "";
      const before = await bandwidth();
      for (const headers of [{}, { range: "bytes=0-9" }, { range: "bytes=-1" }])
        await (await read(file.url, headers as Record<string, string>)).arrayBuffer();
      await read(file.url, {}, "HEAD");
      for (const headers of [{ "if-none-match": etag }, { "if-match": '"x"' }, { range: "bytes=200000-" }])
        await (await read(file.url, headers as Record<string, string>)).arrayBuffer();
      await read(`${file.url}x`);
      assert.equal(await bandwidth(), before + 200_000 + 10 + 1);
    });

    it("of a download that is broken off is no less than came and far less than all", async () => {
      const size = 64 * MB;
      const file = await client.uploadPieces(
        new Array(12).fill(randomBytes(size / 12 + 1).subarray(0, 5 * MB)),
      );
      const before = await bandwidth();
      const response = await openDownload(file.url);
      let received = 0;
      for await (const chunk of response.iterator({ destroyOnReturn: false })) {
        received += chunk.length;
        if (received >= 2 * MB) break;
      }
      response.destroy();
      await settled(bandwidth);
      const counted = (await bandwidth()) - before;
      assert.ok(counted >= received, `${counted} >= ${received}`);
      assert.ok(counted < file.size - 10 * MB, `${counted} of ${file.size}`);
    });

    it("adds up over 50 readers at once", async () => {
      const file = await client.upload(randomBytes(70_000), { contentType: "application/octet-stream" });
      const before = await bandwidth();
      await Promise.all(Array.from({ length: 50 }, async () => (await read(file.url)).arrayBuffer()));
      // The last bytes may have arrived before their sender hears of it.
      await settled(bandwidth);
      assert.equal(await bandwidth(), before + 50 * 70_000);
    });
  });

  it("lets a download that runs finish when the file is deleted, and no other begin", async () => {
    const bytes = randomBytes(12 * MB);
    const file = await client.uploadPieces([bytes.subarray(0, 6 * MB), bytes.subarray(6 * MB)]);
    const response = await openDownload(file.url);
    const [first] = (await once(response, "data")) as [Buffer];
    response.pause();
    assert.equal((await client.remove(file.key)).status, 200);
    assert.equal((await read(file.url)).status, 404);
    const chunks: Buffer[] = [first];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.resume();
    const ended = await Promise.race([
      once(response, "end").then(() => "whole"),
      once(response, "error").then(() => "broken off"),
    ]).catch(() => "broken off");
    const got = Buffer.concat(chunks);
    assert.ok(got.equals(bytes.subarray(0, got.length)), "never other bytes");
    assert.equal(got.length === bytes.length, ended === "whole", "never cut short without notice");
  });

  onlyOnDisk("a bucket guards its bytes itself")("never serves damaged bytes", async () => {
    for (const [size, damage] of [
      [40_000, (path: string) => writeFile(path, randomBytes(40_000))],
      [40_000, (path: string) => truncate(path, 39_999)],
      [300_000, (path: string) => truncate(path, 100)],
    ] as const) {
      const blobsBefore = new Set(await listBlobs(app));
      const file = await client.upload(randomBytes(size), { contentType: "application/octet-stream" });
      const [blob] = (await listBlobs(app)).filter((path) => !blobsBefore.has(path));
      assert.ok(blob);
      await damage(blob);
      for (const method of ["GET", "HEAD", "GET"]) {
        const answer = await read(file.url, {}, method);
        assert.equal(answer.status, 500);
        assert.equal(answer.headers.get("etag"), null);
        assert.equal(answer.headers.get("content-disposition"), null);
        assert.equal(answer.headers.get("cache-control"), "no-store");
        if (method === "GET") assert.equal(JSON.parse(await answer.text()).error.code, "FILE_DAMAGED");
      }
    }
  });
});

async function listBlobs(app: TestApp): Promise<string[]> {
  const root = join(app.dataDir, "objects", "blobs");
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function openDownload(url: string): Promise<IncomingMessage> {
  const [response] = (await once(httpGet(url, { agent: false }), "response")) as [IncomingMessage];
  return response;
}

/** Headers as they stood on the wire. */
async function rawHead(url: string) {
  const response = await openDownload(url);
  response.resume();
  await once(response, "end");
  return { raw: response.rawHeaders.filter((_, i) => i % 2 === 0), headers: response.headers };
}

/** Waits until a figure stands still. */
async function settled(figure: () => Promise<number>): Promise<void> {
  for (let last = -1, now = await figure(); now !== last; ) {
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 100));
    now = await figure();
  }
}
