import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { build } from "esbuild";
import type { Browser } from "playwright-core";
import { type FaultProxy, startFaultProxy } from "../../../test/support/fault-proxy.ts";
import { browserMissing, startBrowser } from "./support/browser.ts";
import { type OtherSite, startOtherSite } from "./support/other-site.ts";
import { startApp, type TestApp } from "./support/start-app.ts";
import { createUploadClient, type UploadClient } from "./support/upload-client.ts";

const mib = 1024 ** 2;

/** Resumes what it finds in the page's storage, and slows itself down: a reload has to come in between. */
const tusPage = `
import { Upload } from "tus-js-client";
window.send = (endpoint, token, text, delays) => new Promise((resolve, reject) => {
  const upload = new Upload(new File([text], "page.txt", { type: "text/plain", lastModified: 1 }), {
    endpoint,
    headers: { Authorization: "Bearer " + token },
    metadata: { filename: "page.txt", filetype: "text/plain" },
    chunkSize: 1024 * 1024,
    retryDelays: delays,
    onProgress: () => {},
    onChunkComplete: (_, offset) => { window.offset = offset; },
    onSuccess: ({ lastResponse }) => resolve(lastResponse.getHeader("Upstow-File-Id")),
    onError: reject,
  });
  upload.findPreviousUploads().then(([previous]) => {
    window.hasResumed = previous !== undefined;
    if (previous !== undefined) upload.resumeFromPreviousUpload(previous);
    upload.start();
  });
});`;

describe("pages of another site, in a browser", { skip: browserMissing }, () => {
  let app: TestApp;
  let client: UploadClient;
  let site: OtherSite;
  let proxy: FaultProxy;
  let browser: Browser;
  let folder: string;
  before(async () => {
    app = await startApp();
    client = createUploadClient(app, app.owner.live);
    site = await startOtherSite();
    proxy = await startFaultProxy(app.url);
    browser = await startBrowser();
    folder = await mkdtemp(join(tmpdir(), "upstow-pages-"));
  });
  after(async () => {
    await browser?.close();
    await proxy.close();
    await site.close();
    await app.close();
    await rm(folder, { recursive: true });
  });

  async function createGrant(fields: object): Promise<string> {
    const { body } = await client.post("upload/grants", { routeSlug: "default", ...fields });
    return body.grant.token;
  }

  it("upload with a form and no script, and land on their own page again", async () => {
    const route = { slug: "forms", formOrigins: [site.url] };
    assert.equal((await client.post(`projects/${app.owner.projectId}/routers`, route)).status, 201);
    const token = await createGrant({ routeSlug: "forms", maxFiles: 2 });
    site.pages.set("/form", {
      type: "text/html; charset=utf-8",
      body: `<!doctype html><form method="post" enctype="multipart/form-data" action="${app.url}/form/${token}">
        <input type="hidden" name="success_redirect" value="${site.url}/thanks">
        <input name="note"><input type="file" name="files" multiple><button>Send</button></form>`,
    });
    const files = ["größe.txt", "second.txt"];
    for (const name of files) await writeFile(join(folder, name), `the bytes of ${name}`);
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${site.url}/form`);
    await page.fill("[name=note]", "häufig");
    await page.setInputFiles(
      "[name=files]",
      files.map((name) => join(folder, name)),
    );
    await page.click("button");
    await page.waitForURL(`${site.url}/thanks?**`);
    const ids = new URL(page.url()).searchParams.getAll("fileId");
    assert.equal(ids.length, 2);
    for (const [i, id] of ids.entries()) {
      const { file } = (await client.get(id)).body;
      assert.deepEqual([file.name, file.type, file.metadata], [files[i], "text/plain", { note: "häufig" }]);
      assert.equal(await (await fetch(file.url)).text(), `the bytes of ${files[i]}`);
    }
    await context.close();
  });

  it("continue with tus-js-client after a reload and through cuts", async () => {
    const { outputFiles } = await build({
      stdin: { contents: tusPage, resolveDir: import.meta.dirname },
      bundle: true,
      format: "iife",
      write: false,
    });
    const script = outputFiles[0]?.text ?? "";
    site.pages.set("/tus.js", { type: "text/javascript", body: script });
    site.pages.set("/tus", { type: "text/html", body: '<!doctype html><script src="/tus.js"></script>' });
    const token = await createGrant({});
    const text = "0123456789abcdef".repeat((6 * mib) / 16);
    const page = await browser.newPage();
    const send = (delays: number[]) =>
      page.evaluate(
        ([endpoint, given, content, pauses]) =>
          (globalThis as unknown as { send(...args: unknown[]): Promise<string> }).send(
            endpoint,
            given,
            content,
            pauses,
          ),
        [`${proxy.url}/tus`, token, text, delays] as const,
      );
    let patches = 0;
    // The third piece never gets through until the page is loaded again.
    proxy.setFaults(({ method }) => (method === "PATCH" && ++patches > 2 ? { kind: "hang" } : null));
    await page.goto(`${site.url}/tus`);
    const broken = send([]).catch(() => "");
    await page.waitForFunction(`globalThis.offset === ${2 * mib}`);
    const offsets: number[] = [];
    proxy.setFaults(({ method, headers }) => {
      if (method !== "PATCH") return null;
      offsets.push(Number(headers["upload-offset"]));
      return offsets.length % 3 === 1 ? { kind: "cut-body", afterBytes: 64 * 1024 } : null;
    });
    await page.reload();
    assert.equal(await broken, "");
    const fileId = await send([0, 10, 20, 40, 80, 160]);
    assert.equal(await page.evaluate("globalThis.hasResumed"), true);
    // Nothing from before the reload is sent again.
    assert.equal(offsets[0], 2 * mib);
    assert.ok(proxy.faultCount() > 2);
    const { file } = (await client.get(fileId)).body;
    assert.deepEqual([file.status, file.size], ["UPLOADED", text.length]);
    const stored = Buffer.from(await (await fetch(file.url)).arrayBuffer());
    assert.equal(hash("sha256", stored), hash("sha256", text));
    await page.close();
  });
});
