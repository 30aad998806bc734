import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { build } from "esbuild";
import type { Browser } from "playwright-core";
import { type FaultProxy, startFaultProxy } from "../../../test/support/fault-proxy.ts";
import { statement } from "../src/db/statement.ts";
import { browserMissing, startBrowser } from "./support/browser.ts";
import { type OtherSite, startOtherSite } from "./support/other-site.ts";
import { assertCountersMatch } from "./support/recount.ts";
import { startApp, type TestApp } from "./support/start-app.ts";
import { createUploadClient, type UploadClient } from "./support/upload-client.ts";

const kib = 1024;
/** The last ones for a machine that takes seconds to save what arrived before a cut. */
const retryDelays = [0, 10, 20, 40, 500, 2_000, 5_000, 5_000];
const listEvents = statement((q, p: { fileId: string }) =>
  q.selectFrom("webhook_message").select("event").where("file_id", "=", p.fileId),
);

/** Pages that resume what they find in their storage. `send` resolves with the id of the file. */
const clients = {
  "tus-js-client": `
import { Upload } from "tus-js-client";
window.send = (endpoint, token, text, retryDelays) => new Promise((resolve, reject) => {
  const upload = new Upload(new File([text], "page.txt", { type: "text/plain", lastModified: 1 }), {
    endpoint,
    headers: { Authorization: "Bearer " + token },
    metadata: { filename: "page.txt", filetype: "text/plain" },
    retryDelays,
    onSuccess: ({ lastResponse }) => resolve(lastResponse.getHeader("Upstow-File-Id")),
    onError: reject,
  });
  upload.findPreviousUploads().then(([previous]) => {
    if (previous !== undefined) upload.resumeFromPreviousUpload(previous);
    upload.start();
  });
});`,
  "Uppy Tus": `
import Uppy from "@uppy/core";
import Tus from "@uppy/tus";
window.send = (endpoint, token, text, retryDelays) => new Promise((resolve, reject) => {
  let fileId = "";
  const onAfterResponse = (_, response) => { fileId = response.getHeader("Upstow-File-Id") ?? fileId; };
  const headers = { Authorization: "Bearer " + token };
  const uppy = new Uppy().use(Tus, { endpoint, headers, retryDelays, onAfterResponse, allowedMetaFields: ["name", "type"] });
  uppy.on("upload-success", () => resolve(fileId));
  uppy.on("upload-error", (_, error) => reject(error));
  const data = new File([text], "page.txt", { type: "text/plain", lastModified: 1 });
  uppy.addFile({ name: data.name, type: data.type, data });
  uppy.upload();
});`,
};

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

  it("upload with a form and no script, and return to the page", async () => {
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

  for (const [name, page] of Object.entries(clients))
    it(`continue with ${name} after a reload, through a cut every 64 KiB`, () => continueThroughCuts(page));

  async function continueThroughCuts(contents: string): Promise<void> {
    const bundled = await build({
      stdin: { contents, resolveDir: import.meta.dirname },
      bundle: true,
      format: "iife",
      write: false,
    });
    site.pages.set("/tus.js", { type: "text/javascript", body: bundled.outputFiles[0]?.text ?? "" });
    site.pages.set("/tus", { type: "text/html", body: '<!doctype html><script src="/tus.js"></script>' });
    const token = await createGrant({});
    const text = "0123456789abcdef".repeat((1024 * kib) / 16);
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
    const offsets: number[] = [];
    const reloaded = Promise.withResolvers<void>();
    proxy.setFaults(({ method, headers }) => {
      if (method !== "PATCH") return null;
      offsets.push(Number(headers["upload-offset"]));
      // Half of the file never gets through until the page is loaded again.
      if (offsets.length > 8) {
        reloaded.resolve();
        return { kind: "hang" };
      }
      return { kind: "cut-body", afterBytes: 64 * kib };
    });
    await page.goto(`${site.url}/tus`);
    const broken = send(retryDelays).catch(() => "");
    // A client that gives up is told as such.
    assert.equal(await Promise.race([reloaded.promise, broken]), undefined);
    const before = offsets.splice(0).slice(0, 8);
    proxy.setFaults(({ method, headers }) => {
      if (method !== "PATCH") return null;
      offsets.push(Number(headers["upload-offset"]));
      return Number(headers["content-length"]) > 64 * kib ? { kind: "cut-body", afterBytes: 64 * kib } : null;
    });
    await page.reload();
    assert.equal(await broken, "");
    const fileId = await send(retryDelays);
    // Nothing that arrived is sent again, before the reload or after it.
    const all = [...before, ...offsets];
    assert.deepEqual(
      all,
      [...all].sort((a, b) => a - b),
    );
    assert.ok((offsets[0] ?? 0) > 0, all.join());
    assert.ok(all.length > 15, all.join());
    const { file } = (await client.get(fileId)).body;
    assert.deepEqual(
      [file.status, file.size, file.name, file.type],
      ["UPLOADED", text.length, "page.txt", "text/plain"],
    );
    const stored = Buffer.from(await (await fetch(file.url)).arrayBuffer());
    assert.equal(hash("sha256", stored), hash("sha256", text));
    const events = await app.app.deps.db.all(listEvents, { fileId });
    assert.deepEqual(events, [{ event: "upload.completed" }]);
    await assertCountersMatch(app, app.owner.projectId);
    await page.close();
  }
});
