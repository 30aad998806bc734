import assert from "node:assert/strict";
import { createHash, randomFillSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { browserMissing, startBrowser } from "../../server/test/support/browser.ts";
import type { UploadState } from "../src/client/index.ts";
import { createUpstow, type Upstow } from "../src/index.ts";
import { startApplication, type TestApplication, until } from "./support/start-application.ts";
import { MB } from "./support/start-service.ts";

/** The upload that is killed half-way. */
const large = randomFillSync(Buffer.alloc(200 * MB + 17));
const medium = large.subarray(0, 26 * MB);
const partsOf = (bytes: Uint8Array) => Math.ceil(bytes.length / (5 * MB));
const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

type State = Pick<UploadState, "status" | "sentBytes" | "totalBytes" | "progress" | "isResumed"> & {
  bytesPerSec: number;
  secondsLeft: number | null;
  error: { code?: string } | null;
  uploaded: { url: string; isVerified: boolean; result: unknown } | null;
};

describe("the uploader in Chromium", { skip: browserMissing }, () => {
  let application: TestApplication;
  let upstow: Upstow;
  let browser: Browser;
  let context: BrowserContext;
  let folder: string;
  const storage = () => application.service.storage;
  const arrived = () => storage().puts.filter((put) => put.status === 200).length;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "upstow-browser-"));
    await writeFile(join(folder, "large.bin"), large);
    await writeFile(join(folder, "medium.bin"), medium);
    application = await startApplication();
    upstow = createUpstow({ apiKey: application.service.apiKey, baseUrl: application.service.app.url });
    browser = await startBrowser();
  });
  after(async () => {
    await browser.close();
    await application.close();
    await rm(folder, { recursive: true });
  });
  beforeEach(async () => {
    storage().puts.length = 0;
    storage().cutsPut = () => false;
    storage().allow(Number.POSITIVE_INFINITY);
    await context?.close();
    context = await browser.newContext();
  });

  async function openPage(): Promise<Page> {
    const page = await context.newPage();
    await page.goto(application.site.url);
    await page.waitForFunction("window.isReady");
    return page;
  }

  /** Chooses the file as a user does, and starts. */
  async function startUpload(page: Page, options: object = {}, name = "medium.bin"): Promise<void> {
    await page.setInputFiles("#file", join(folder, name));
    const given = JSON.stringify({ endpoint: "/api/upload", retryDelayMs: 20, ...options });
    await page.evaluate(`
      window.uploader = sdk.createUploader(${given});
      window.seen = [];
      uploader.subscribe(() => seen.push(uploader.getSnapshot().uploads[0]?.progress ?? 0));
      [window.task] = uploader.add("any", document.querySelector("#file").files);
    `);
  }

  const stateOf = (page: Page) => page.evaluate<State>("task.getState()");
  const ended = async (page: Page): Promise<State> => {
    await page.waitForFunction(`["done", "failed", "cancelled"].includes(task.getState().status)`, null, {
      timeout: 0,
    });
    return stateOf(page);
  };

  async function assertStored(state: State, expected: Uint8Array = medium): Promise<void> {
    assert.equal(state.status, "done", JSON.stringify(state.error));
    const stored = await (await fetch(state.uploaded?.url ?? "")).arrayBuffer();
    assert.equal(hashOf(new Uint8Array(stored)), hashOf(expected));
  }

  async function listOpen(): Promise<string[]> {
    const { files } = await upstow.files.list();
    return files.filter((file) => file.status === "UPLOADING").map((file) => file.name);
  }

  it("resumes after its page was closed half-way, and sends only the parts that are missing", async () => {
    const half = Math.floor(partsOf(large) / 2);
    storage().allow(half);
    const first = await openPage();
    await startUpload(first, {}, "large.bin");
    await until(() => arrived() === half);
    await first.close();
    storage().dropHeld();
    storage().puts.length = 0;
    storage().allow(Number.POSITIVE_INFINITY);

    const second = await openPage();
    const resumable = await second.evaluate<{ name: string }[]>(
      `sdk.createUploader({ endpoint: "/api/upload" }).listResumable()`,
    );
    assert.deepEqual(
      resumable.map((upload) => upload.name),
      ["large.bin"],
    );
    await startUpload(second, {}, "large.bin");
    const state = await ended(second);
    await assertStored(state, large);
    assert.equal(state.isResumed, true);
    // Bodies of the first page that its browser lets go of late do not count: none of them arrives whole.
    const sent = storage().puts.filter((put) => put.status !== null);
    assert.equal(sent.length, partsOf(large) - half);
    const sentBytes = sent.reduce((sum, put) => sum + put.receivedBytes, 0);
    assert.equal(sentBytes, large.length - half * 5 * MB);
    assert.deepEqual(await second.evaluate("uploader.listResumable()"), []);
  });

  it("tells by bytes how far it is, how fast, and how long it takes", async () => {
    const page = await openPage();
    await startUpload(page, { verify: true });
    await page.waitForFunction("task.getState().bytesPerSec > 0 && task.getState().secondsLeft !== null");
    const state = await ended(page);
    await assertStored(state);
    assert.equal(state.uploaded?.isVerified, true);
    const seen = await page.evaluate<number[]>("seen");
    // Not in steps of a whole part: the browser tells of every piece that it has sent.
    const parts = new Set(seen.map((progress) => (progress * medium.length) / (5 * MB)));
    assert.ok([...parts].some((part) => part > 0 && !Number.isInteger(part) && part < partsOf(medium) - 1));
  });

  it("finishes on a line that is cut every fifth time", async () => {
    storage().cutsPut = (number) => number % 5 === 1;
    const page = await openPage();
    await startUpload(page);
    await assertStored(await ended(page));
    assert.ok(storage().puts.filter((put) => put.status === null).length >= partsOf(medium) / 5);
  });

  it("renews part URLs that have expired", async () => {
    storage().allow(2);
    const page = await openPage();
    await startUpload(page);
    await until(() => storage().puts.length >= 4);
    application.service.app.clock.advance(2 * 60 * 60 * 1000);
    storage().allow(Number.POSITIVE_INFINITY);
    await assertStored(await ended(page));
    assert.ok(storage().puts.some((put) => put.status === 403));
  });

  it("sends nothing while it is paused", async () => {
    storage().allow(2);
    const page = await openPage();
    await startUpload(page);
    await until(() => storage().puts.length >= 5);
    await page.evaluate("task.pause()");
    storage().dropHeld();
    const before = storage().puts.length;
    storage().allow(Number.POSITIVE_INFINITY);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(storage().puts.length, before);
    assert.equal((await stateOf(page)).status, "paused");
    await page.evaluate("task.resume()");
    await assertStored(await ended(page));
    assert.equal(storage().puts.length, before + partsOf(medium) - 2);
  });

  it("leaves nothing behind when it is cancelled", async () => {
    storage().allow(2);
    const page = await openPage();
    await startUpload(page);
    await until(() => arrived() === 2);
    await page.evaluate("task.cancel()");
    assert.equal((await stateOf(page)).status, "cancelled");
    assert.deepEqual(await listOpen(), []);
    assert.deepEqual(await page.evaluate("uploader.listResumable()"), []);
    storage().dropHeld();
  });

  it("aborts when a part has failed for good", async () => {
    storage().cutsPut = (number) => number > 3;
    const page = await openPage();
    await startUpload(page, { retries: 2 });
    await page.waitForFunction(`task.done.catch(() => true)`);
    assert.equal((await stateOf(page)).status, "failed");
    assert.deepEqual(await listOpen(), []);
  });

  it("waits while there is no network, and goes on when it is back", async () => {
    storage().allow(2);
    const page = await openPage();
    await startUpload(page, { retries: 0 });
    await until(() => arrived() === 2);
    await context.setOffline(true);
    await page.waitForFunction("!uploader.getSnapshot().isOnline");
    storage().dropHeld();
    const before = storage().puts.length;
    storage().allow(Number.POSITIVE_INFINITY);
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal((await stateOf(page)).status, "uploading");
    assert.equal(storage().puts.length, before);
    await context.setOffline(false);
    await assertStored(await ended(page));
  });

  it("takes many small files through one queue", async () => {
    const page = await openPage();
    const results = await page.evaluate<{ name: string; result: { name: string } }[]>(`
      sdk.createUploader({ endpoint: "/api/upload" }).upload("any",
        Array.from({ length: 20 }, (_, i) => new File(["x".repeat(i + 1)], i + ".txt", { type: "text/plain" })))
    `);
    assert.deepEqual(
      results.map((file) => file.result.name),
      Array.from({ length: 20 }, (_, i) => `${i}.txt`),
    );
  });
});
