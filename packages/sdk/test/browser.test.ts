import assert from "node:assert/strict";
import { randomFillSync } from "node:crypto";
import { describe, it } from "node:test";
import { browserMissing } from "../../server/test/support/browser.ts";
import { createUploads, resumeAfterClose } from "./support/browser-uploads.ts";
import { inBrowser } from "./support/in-browser.ts";
import { until } from "./support/start-application.ts";
import { MB } from "./support/start-service.ts";

/** The upload that is killed half-way. */
const large = randomFillSync(Buffer.alloc(36 * MB + 17));
/** Six parts: with two stored and three on the way, one has not begun. */
const medium = large.subarray(0, 26 * MB);

describe("the uploader in Chromium", { skip: browserMissing }, () => {
  const suite = inBrowser({ "large.bin": large, "medium.bin": medium });
  const { storage, openPage } = suite;
  const { startUpload, ended, assertStored } = createUploads(suite);

  it("resumes after its page was closed half-way, and sends only the parts that are missing", () =>
    resumeAfterClose(suite, large));

  it("renews part URLs that have expired", async () => {
    storage().allow(2);
    const page = await openPage();
    await startUpload(page, "medium.bin");
    await until(() => storage().puts.length >= 4);
    suite.application().service.app.clock.advance(2 * 60 * 60 * 1000);
    storage().allow(Number.POSITIVE_INFINITY);
    await assertStored(await ended(page), medium);
    assert.ok(storage().puts.some((put) => put.status === 403));
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
