import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { browserMissing } from "../../server/test/support/browser.ts";
import type { UploadState } from "../src/client/index.ts";
import { inBrowser } from "./support/in-browser.ts";

const isUploadCall = (call: string) => call.includes("/api/v1/upload/");

/** Drops files on the page as one handful. */
function upload(page: Page, count: number): Promise<UploadState[]> {
  return page.evaluate<UploadState[]>(`(async () => {
    window.uploader = sdk.createUploader({ endpoint: "/api/upload" });
    window.waits = [];
    uploader.subscribe(() => {
      for (const { status, waitSeconds } of uploader.getSnapshot().uploads)
        if (status === "waiting" && waits.at(-1) !== waitSeconds) waits.push(waitSeconds);
    });
    const files = Array.from({ length: ${count} }, (_, i) => new File(["x".repeat(20_000 + i)], i + ".txt"));
    await Promise.allSettled(uploader.add("any", files).map((task) => task.done));
    return uploader.getSnapshot().uploads;
  })()`);
}

describe("24 files at once in Chromium, with the default rate limits", { skip: browserMissing }, () => {
  const { openPage, storage } = inBrowser({}, { keepRateLimits: true });

  it("cost two or three calls and never meet the limit", async () => {
    const page = await openPage();
    const startedAt = performance.now();
    const uploads = await upload(page, 24);
    // Completions are gathered for up to two seconds at a time, so a slow machine makes a call more.
    const longer = Math.floor((performance.now() - startedAt) / 2_000);
    assert.deepEqual(
      uploads.map(({ status, uploaded }) => [status, uploaded?.size]),
      Array.from({ length: 24 }, (_, i) => ["done", 20_000 + i]),
    );
    const calls = storage().calls.filter(isUploadCall);
    assert.ok(calls.length <= 3 + longer, calls.join("\n"));
    assert.deepEqual(await page.evaluate("waits"), []);
    assert.equal(storage().puts.length, 24);
  });
});

describe("an upload above the rate limit in Chromium", { skip: browserMissing }, () => {
  const suite = inBrowser({}, { rateWindowMs: 6_000, env: { UPSTOW_RATE_LIMITS: "upload=2" } });

  it("says that it waits, counts the seconds down, and goes on by itself", async () => {
    const { app, apiKey } = suite.application().service;
    const page = await openAtLimit();
    const uploads = await upload(page, 5);
    assert.deepEqual(new Set(uploads.map(({ status }) => status)), new Set(["done"]));
    const waits = await page.evaluate<number[]>("waits");
    assert.ok(waits.length > 1, `waited for ${waits.join(", ")} seconds`);
    assert.ok(waits.every((seconds) => Number.isInteger(seconds) && seconds >= 1 && seconds <= 8));

    /** Whatever the machine does, the window is full when the page begins. */
    async function openAtLimit(): Promise<Page> {
      const opened = await suite.openPage();
      for (let status = 0; status !== 429; )
        ({ status } = await app.call("POST", "upload/complete", { key: apiKey, body: { fileId: "none" } }));
      return opened;
    }
  });
});
