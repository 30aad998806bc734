import assert from "node:assert/strict";
import { randomFillSync } from "node:crypto";
import { describe, it } from "node:test";
import { browserMissing } from "../../server/test/support/browser.ts";
import { createUploads, partsOf } from "./support/browser-uploads.ts";
import { inBrowser } from "./support/in-browser.ts";
import { until } from "./support/start-application.ts";
import { MB } from "./support/start-service.ts";

/** Six parts: with two stored and three on the way, one has not begun. */
const medium = randomFillSync(Buffer.alloc(26 * MB));

describe("the uploader in Chromium, on every kind of line", { skip: browserMissing }, () => {
  const suite = inBrowser({ "medium.bin": medium });
  const { storage, arrived, openPage, listOpen } = suite;
  const { startUpload, stateOf, ended, assertStored } = createUploads(suite);

  it("does not offer what another tab is uploading, and discards what nobody is", async () => {
    storage().allow(2);
    const first = await openPage();
    await startUpload(first, "medium.bin");
    await until(() => arrived().length === 2);
    const second = await openPage();
    await second.evaluate(`window.uploader = sdk.createUploader({ endpoint: "/api/upload" })`);
    const list = () => second.evaluate<object[]>("uploader.listResumable()");
    assert.deepEqual(await list(), []);
    await first.close();
    await until(async () => (await list()).length === 1);
    await second.evaluate("uploader.listResumable().then(([upload]) => uploader.discardResumable(upload))");
    assert.deepEqual([await list(), await listOpen()], [[], []]);
  });

  it("opens a file again by the handle that it had", async () => {
    storage().allow(2);
    const first = await openPage();
    await first.evaluate(`(async () => {
      const folder = await navigator.storage.getDirectory();
      const handle = await folder.getFileHandle("kept.bin", { create: true });
      const writable = await handle.createWritable();
      await writable.write(new Uint8Array(${medium.length}).fill(7));
      await writable.close();
      const file = Object.assign(await handle.getFile(), { handle });
      sdk.createUploader({ endpoint: "/api/upload" }).add("any", file);
    })()`);
    await until(() => arrived().length === 2);
    await first.reload();
    storage().dropHeld();
    storage().puts.length = 0;
    storage().allow(Number.POSITIVE_INFINITY);
    await first.waitForFunction("window.isReady", null, { timeout: 0 });
    await first.evaluate(`(async () => {
      window.uploader = sdk.createUploader({ endpoint: "/api/upload" });
      const [saved] = await uploader.listResumable();
      [window.task] = uploader.add("any", await saved.handle.getFile());
    })()`);
    const state = await ended(first);
    assert.equal(state.isResumed, true);
    await assertStored(state, Buffer.alloc(medium.length, 7));
  });

  it("tells by bytes how far it is, how fast, and how long it takes", async () => {
    // Held up half-way for as long as the test needs to see it, however fast the machine is.
    storage().allow(2);
    const page = await openPage();
    await startUpload(page, "medium.bin", { verify: true });
    await page.waitForFunction("seen.some((state) => state.bytesPerSec > 0 && state.secondsLeft > 0)", null, {
      timeout: 0,
    });
    // Not in steps of a whole part: the browser tells of every piece that it has sent.
    await page.waitForFunction(
      `seen.some(({ sentBytes, totalBytes }) => sentBytes % ${5 * MB} > 0 && sentBytes < totalBytes)`,
      null,
      { timeout: 0 },
    );
    storage().allow(Number.POSITIVE_INFINITY);
    const state = await ended(page);
    await assertStored(state, medium);
    assert.equal(state.uploaded?.isVerified, true);
  });

  it("finishes on a line that is cut every fifth time", async () => {
    storage().cutsPut = (number) => number % 5 === 1;
    const page = await openPage();
    await startUpload(page, "medium.bin");
    await assertStored(await ended(page), medium);
    assert.ok(storage().puts.filter((put) => put.status === null).length >= partsOf(medium) / 5);
  });

  it("sends nothing while it is paused", async () => {
    storage().allow(2);
    const page = await openPage();
    await startUpload(page, "medium.bin");
    await until(() => arrived().length === 2 && storage().puts.length === 5);
    await page.evaluate("task.pause()");
    // What was held has been let go of by the page. Its lines are not cut: a browser would send again by itself.
    storage().allow(Number.POSITIVE_INFINITY);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(storage().puts.length, 5);
    assert.equal((await stateOf(page)).status, "paused");
    await page.evaluate("task.resume()");
    await assertStored(await ended(page), medium);
    assert.equal(storage().puts.length, 5 + partsOf(medium) - 2);
  });

  it("leaves nothing behind when it is cancelled", async () => {
    storage().allow(2);
    const page = await openPage();
    await startUpload(page, "medium.bin");
    await until(() => arrived().length === 2);
    await page.evaluate("task.cancel()");
    assert.equal((await stateOf(page)).status, "cancelled");
    assert.deepEqual(await listOpen(), []);
    assert.deepEqual(await page.evaluate("uploader.listResumable()"), []);
  });

  it("aborts when a part has failed for good", async () => {
    storage().cutsPut = (number) => number > 3;
    const page = await openPage();
    await startUpload(page, "medium.bin", { retries: 2 });
    await page.evaluate("task.done.catch(() => {})");
    assert.equal((await stateOf(page)).status, "failed");
    assert.deepEqual(await listOpen(), []);
  });

  it("waits while there is no network, and goes on when it is back", async () => {
    storage().allow(2);
    const page = await openPage();
    await startUpload(page, "medium.bin", { retries: 0 });
    await until(() => arrived().length === 2 && storage().puts.length === 5);
    await suite.context().setOffline(true);
    await page.waitForFunction("!uploader.getSnapshot().isOnline", null, { timeout: 0 });
    storage().allow(Number.POSITIVE_INFINITY);
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal((await stateOf(page)).status, "uploading");
    assert.equal(storage().puts.length, 5);
    await suite.context().setOffline(false);
    await assertStored(await ended(page), medium);
  });
});
