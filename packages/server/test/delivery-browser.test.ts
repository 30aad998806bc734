import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { browserMissing, startBrowser } from "./support/browser.ts";
import { type OtherSite, startOtherSite } from "./support/other-site.ts";
import { startApp, type TestApp } from "./support/start-app.ts";
import { onDisk } from "./support/test-bucket.ts";
import { createUploadClient, smallBody, type UploadClient } from "./support/upload-client.ts";

/** Reports by every way that a script has out, so that one blocked way does not hide another. */
const payload = (site: string, name: string) => `
  document.title = "ran";
  new Image().src = "${site}/ran/${name}";
  try { fetch("${site}/ran/${name}", { mode: "no-cors" }); } catch {}
  try { navigator.sendBeacon("${site}/ran/${name}"); } catch {}
  location.hash = "ran";`;

const html = (site: string, name: string) =>
  `<!doctype html><html><body onload='${payload(site, name)}'><script>${payload(site, name)}</script>
   <img src=x onerror='${payload(site, name)}'><iframe srcdoc="<script>${payload(site, name).replaceAll('"', "&quot;")}</script>"></iframe>
   <svg onload='${payload(site, name)}'></svg><a href="javascript:1">x</a></body></html>`;

const svg = (site: string, name: string) =>
  `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" xmlns:h="http://www.w3.org/1999/xhtml" width="9" height="9" onload='${payload(site, name)}'><script><![CDATA[${payload(site, name)}]]></script><foreignObject><h:script>${payload(site, name).replaceAll('"', "&quot;")}</h:script></foreignObject></svg>`;

const xhtml = (site: string, name: string) =>
  `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title><script><![CDATA[${payload(site, name)}]]></script></head><body/></html>`;

const gifPolyglot = (site: string, name: string) => `GIF89a/*${html(site, name)}*/=1;${payload(site, name)}`;
const pdfPolyglot = (site: string, name: string) =>
  `%PDF-1.4\n1 0 obj<</Type/Catalog/OpenAction<</S/JavaScript/JS(app.launchURL("${site}/ran/${name}"))>>>>endobj\n${html(site, name)}`;
const mixed = (site: string, name: string) =>
  `--x\r\nContent-Type: text/html\r\n\r\n${html(site, name)}\r\n--x--\r\n`;

const attacks: [string, (site: string, name: string) => string][] = [
  ["image/svg+xml", svg],
  ["IMAGE/SVG+XML; charset=utf-8", svg],
  ["text/html", html],
  ["text/html; charset=utf-8", html],
  ["application/xhtml+xml", xhtml],
  ["text/xml", svg],
  ["application/xml", xhtml],
  ["application/rss+xml", xhtml],
  ["multipart/x-mixed-replace; boundary=x", mixed],
  ["text/plain", html],
  ["image/png", html],
  ["image/png", svg],
  ["image/gif", gifPolyglot],
  ["image/x-icon", svg],
  ["image/bmp", html],
  ["video/mp4", html],
  ["audio/mpeg", html],
  ["application/pdf", pdfPolyglot],
  ["application/pdf", html],
  ["application/pdf;,text/html", html],
  ["image/png;,text/html", html],
  ['text/plain;x="a,text/html;"', html],
  ["text/plain; charset=utf-7", html],
  ["application/octet-stream", html],
  ["x/y", html],
];

describe("a browser", { skip: browserMissing }, () => {
  let app: TestApp;
  let client: UploadClient;
  let site: OtherSite;
  let browser: Browser;
  before(async () => {
    app = await startApp();
    client = createUploadClient(app, app.owner.live);
    site = await startOtherSite();
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await site.close();
    await app.close();
  });

  /** A download ends a navigation with an error; both are fine here. */
  const open = (page: Page, url: string) => page.goto(url, { waitUntil: "load" }).catch(() => null);

  it("runs the attacks where nothing stops them, so that silence means something", async () => {
    const page = await browser.newPage();
    for (const [type, attack] of [
      ["text/html", html],
      ["image/svg+xml", svg],
      ["application/xhtml+xml", xhtml],
    ] as const) {
      const path = `/unguarded/${encodeURIComponent(type)}`;
      site.pages.set(path, { type, body: attack(site.url, "control") });
      const before = site.reports.length;
      await open(page, site.url + path);
      await page.waitForFunction("document.title === 'ran' || location.hash === '#ran'");
      while (site.reports.length === before) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await page.close();
    site.reports.length = 0;
  });

  for (const [i, [type, attack]] of attacks.entries()) {
    it(`runs nothing of ${attack.name} served as ${type}, opened or embedded`, async () => {
      const name = `attack-${i}`;
      const file = await client.upload(Buffer.from(attack(site.url, name)), {
        contentType: type,
        fileName: `${name}.html`,
      });
      const framing = `<!doctype html><iframe src="${file.url}"></iframe><object data="${file.url}"></object><embed src="${file.url}"><img src="${file.url}"><video src="${file.url}"></video>`;
      site.pages.set(`/frames-${i}`, { type: "text/html", body: framing });
      const page = await browser.newPage();
      for (const url of [file.url, `${site.url}/frames-${i}`]) {
        await open(page, url);
        const ran = await page.evaluate("document.title + location.hash").catch(() => "");
        assert.doesNotMatch(String(ran), /ran/);
      }
      // A round trip through the same browser: what was sent before it has arrived.
      await page.evaluate(`fetch("${site.url}/ran/marker")`);
      await page.close();
      assert.ok(site.reports.includes("marker"));
      assert.ok(!site.reports.includes(name));
    });
  }

  it("shows images and text in place and saves the rest under their names", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const text = await client.upload(Buffer.from("plain <b>text</b>"));
    await page.goto(text.url);
    assert.equal(await page.evaluate("document.body.innerText"), "plain <b>text</b>");
    const dot = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
      "base64",
    );
    const image = await client.upload(dot, { contentType: "image/png", fileName: "dot.png" });
    await page.goto(image.url);
    assert.equal(await page.evaluate("document.images[0].naturalWidth"), 1);

    for (const fileName of ["Übersicht 🎉.html", 'evil".exe', "a\r\nb.svg", "\u202egnp.exe"]) {
      const file = await client.upload(smallBody, { contentType: "text/html", fileName });
      const [download] = await Promise.all([page.waitForEvent("download"), open(page, file.url)]);
      const saved = download.suggestedFilename();
      const expected = { 'evil".exe': "evil_.exe", "a\r\nb.svg": "ab.svg", "\u202egnp.exe": "gnp.exe" };
      assert.equal(saved, expected[fileName as keyof typeof expected] ?? fileName);
    }
    await context.close();
  });

  it("uploads and reads from a page of another origin, ETag and ranges included", async () => {
    const page = await browser.newPage();
    await page.goto(site.url);
    const upload = await client.request();
    const put = `(async (url) => {
      const sent = await fetch(url, { method: "PUT", headers: { "content-type": "text/plain" }, body: "hello bytes" });
      return { status: sent.status, etag: sent.headers.get("etag") };
    })(${JSON.stringify(upload.uploadUrl)})`;
    const sent = (await page.evaluate(put)) as { status: number; etag: string };
    assert.equal(sent.status, 200);
    assert.match(sent.etag, /^"[0-9a-f]{32}"$/);
    assert.equal((await client.complete(upload.fileId)).status, 200);

    const read = `(async (url) => {
      const whole = await fetch(url);
      const etag = whole.headers.get("etag");
      const part = await fetch(url, { headers: { range: "bytes=0-4", "if-range": etag } });
      const same = await fetch(url, { headers: { "if-none-match": etag }, cache: "no-store" });
      return [await whole.text(), etag, part.status, await part.text(), part.headers.get("content-range"), same.status];
    })(${JSON.stringify(upload.cdnUrl)})`;
    assert.deepEqual(await page.evaluate(read), [
      ...["hello bytes", sent.etag, 206, "hello", "bytes 0-4/11", 304],
    ]);
    await client.remove(upload.key);
    const gone = `fetch(${JSON.stringify(upload.cdnUrl)}).then((answer) => answer.status)`;
    assert.equal(await page.evaluate(gone), 404, "also in a browser that has it in its cache");
    const refused = `fetch(${JSON.stringify(upload.uploadUrl)}, { method: "PUT", headers: { "content-type": "text/plain" }, body: "hello bytes" }).then((answer) => answer.status)`;
    // A bucket takes it until the URL ends, for a file that stays deleted.
    assert.equal(await page.evaluate(refused), onDisk ? 403 : 200, "a page can read why it was refused");
    assert.equal(await page.evaluate(gone), 404);
    await page.close();
  });
});
