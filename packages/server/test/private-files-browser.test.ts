import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import sharp from "sharp";
import { browserMissing, startBrowser } from "./support/browser.ts";
import { type OtherSite, startOtherSite } from "./support/other-site.ts";
import { startApp, type TestApp } from "./support/start-app.ts";
import { createUploadClient, type UploadClient } from "./support/upload-client.ts";

const draw = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: "#37a" } })
    .png()
    .toBuffer();

/** Runs in the page: reads a playlist and all that it names, as a player does. */
const followPlaylist = `async (address) => {
  const playlist = await fetch(address);
  const lines = (await playlist.text()).split("\\n");
  const segments = [];
  for (const line of lines.filter((line) => line !== "" && !line.startsWith("#"))) {
    const segment = await fetch(new URL(line, playlist.url));
    const first = await fetch(new URL(line, playlist.url), { headers: { range: "bytes=0-3", "if-range": segment.headers.get("etag") } });
    segments.push([segment.status, await segment.text(), first.status, await first.text()]);
  }
  return [playlist.status, segments];
}`;

describe("private files on a page of another origin", { skip: browserMissing }, () => {
  let app: TestApp;
  let client: UploadClient;
  let site: OtherSite;
  let browser: Browser;
  before(async () => {
    app = await startApp();
    client = createUploadClient(app, app.owner.live);
    [site, browser] = await Promise.all([startOtherSite(), startBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await site.close();
    await app.close();
  });

  async function grant(scope: object): Promise<string> {
    const { status, body } = await client.post("files/grants", scope);
    assert.equal(status, 200, JSON.stringify(body));
    return body.grant.baseUrl;
  }

  it("are a gallery of relative addresses under one grant", async () => {
    const sizes = [
      [40, 20],
      [30, 60],
      [7, 5],
    ] as const;
    const files = await Promise.all(
      sizes.map(async ([width, height]) =>
        client.upload(await draw(width, height), {
          access: "private",
          audience: "album:7",
          contentType: "image/png",
          fileName: `größe ${width}.png`,
        }),
      ),
    );
    const foreign = await client.upload(await draw(9, 9), { access: "private", contentType: "image/png" });
    const images = [...files, foreign].map(
      ({ key }) => `<img src="${key.split("/").map(encodeURIComponent).join("/")}">`,
    );
    const body = `<!doctype html><base href="${await grant({ audience: "album:7" })}/">${images.join("")}`;
    site.pages.set("/album", { type: "text/html; charset=utf-8", body });
    const page = await browser.newPage();
    await page.goto(`${site.url}/album`, { waitUntil: "load" });
    const shown = `[...document.images].map(({ naturalWidth, naturalHeight }) => [naturalWidth, naturalHeight])`;
    assert.deepEqual(await page.evaluate(shown), [...sizes, [0, 0]], "what another album has stays hidden");

    await client.post("files/links/revoke", { audience: "album:7" });
    await page.reload({ waitUntil: "load" });
    assert.deepEqual(await page.evaluate(shown), Array(4).fill([0, 0]), "also what the browser has cached");
    await page.close();
  });

  it("are a playlist with segments beside it under one grant", async () => {
    const store = (fileName: string, text: string, contentType: string) =>
      client.upload(Buffer.from(text), { access: "private", audience: "lesson:3", fileName, contentType });
    const segments = ["segment one", "segment two"];
    const stored = await Promise.all(segments.map((text, i) => store(`part ${i}.ts`, text, "video/mp2t")));
    const lines = stored.map(({ id, name }) => `#EXTINF:6,\n../${id}/${encodeURIComponent(name)}`);
    const playlist = ["#EXTM3U", "#EXT-X-TARGETDURATION:6", ...lines, "#EXT-X-ENDLIST", ""].join("\n");
    const { key } = await store("index.m3u8", playlist, "application/vnd.apple.mpegurl");
    const page = await browser.newPage();
    await page.goto(site.url);
    const address = `${await grant({ audience: "lesson:3" })}/${key}`;
    assert.deepEqual(await page.evaluate(`(${followPlaylist})(${JSON.stringify(address)})`), [
      200,
      segments.map((text) => [200, text, 206, text.slice(0, 4)]),
    ]);
    const bare = `fetch(${JSON.stringify(`${app.url}/f/${key}`)}).then(({ status }) => status)`;
    assert.equal(await page.evaluate(bare), 404, "without the grant");
    await page.close();
  });
});
