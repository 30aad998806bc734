import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { type RawAnswer, sendRaw } from "./support/raw-http.ts";
import { startApp, type TestApp } from "./support/start-app.ts";

const bytesOf = ({ body }: RawAnswer) => Buffer.from(body, "latin1");

describe("pages and their assets", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());

  const get = (path: string, lines: string[] = []) =>
    sendRaw(app.url, `${[`GET ${path} HTTP/1.1`, "Host: localhost", ...lines].join("\r\n")}\r\n\r\n`);

  async function firstAsset(path: string, pattern: RegExp): Promise<string> {
    const { body } = await get(path);
    const found = pattern.exec(body.toString())?.[1];
    assert.ok(found, path);
    return found;
  }

  it("are sent as small as the client accepts them, each form under an ETag of its own", async () => {
    const paths = [
      "/",
      "/docs",
      "/llms.txt",
      "/components",
      await firstAsset("/", /href="([^"]+\.css)"/),
      await firstAsset("/components", /src="(\/components\/assets\/[^"]+\.js)"/),
      await firstAsset("/dashboard", /src="([^"]+\.js)"/),
    ];
    for (const path of paths) {
      const plain = await get(path);
      assert.equal(plain.headers.get("content-encoding"), null, path);
      assert.match(plain.headers.get("vary") ?? "", /accept-encoding/, path);
      const tags = new Set([plain.headers.get("etag")]);
      const unpack = { br: brotliDecompressSync, gzip: gunzipSync };
      for (const encoding of ["br", "gzip"] as const) {
        const answer = await get(path, [`Accept-Encoding: ${encoding}`]);
        assert.equal(answer.headers.get("content-encoding"), encoding, path);
        assert.ok(unpack[encoding](bytesOf(answer)).equals(bytesOf(plain)), path);
        tags.add(answer.headers.get("etag"));
        const lines = [`Accept-Encoding: ${encoding}`, `If-None-Match: ${answer.headers.get("etag")}`];
        assert.equal((await get(path, lines)).status, 304, path);
      }
      assert.equal(tags.size, 3, path);
    }
  });

  it("prefer Brotli, and leave out what the client rejects", async () => {
    const expected = {
      "gzip, deflate, br, zstd": "br",
      "br;q=0, gzip": "gzip",
      "*": "br",
      "*;q=0": null,
      "gzip;q=0.0": null,
      identity: null,
    };
    for (const [accepted, encoding] of Object.entries(expected)) {
      const { headers } = await get("/docs", [`Accept-Encoding: ${accepted}`]);
      assert.equal(headers.get("content-encoding"), encoding, accepted);
    }
  });

  it("are kept for a year under a URL that changes with their content, and under no other", async () => {
    const url = await firstAsset("/", /href="([^"]+\/site\.css)"/);
    const font = await firstAsset(url, /url\("([^"]+\.woff2)"\)/);
    for (const path of [url, font])
      assert.match((await get(path)).headers.get("cache-control") ?? "", /immutable/, path);
    for (const path of ["/assets/site.css", "/assets/0123456789/site.css", "/"])
      assert.equal((await get(path)).headers.get("cache-control"), "no-cache", path);
    const { headers } = await get(font, ["Accept-Encoding: br"]);
    assert.equal(headers.get("content-encoding"), null);
    assert.equal(headers.get("content-type"), "font/woff2");
  });
});
