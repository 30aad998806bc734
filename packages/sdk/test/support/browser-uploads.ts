import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { UploadState } from "../../src/client/index.ts";
import type { InBrowser } from "./in-browser.ts";
import { until } from "./start-application.ts";
import { MB } from "./start-service.ts";

export const partsOf = (bytes: Uint8Array) => Math.ceil(bytes.length / (5 * MB));

type State = Pick<UploadState, "status" | "sentBytes" | "totalBytes" | "progress" | "isResumed"> & {
  error: { code?: string } | null;
  uploaded: { url: string; isVerified: boolean; result: unknown } | null;
};

/** How a test uploads in a page, and learns what came of it. */
export function createUploads(suite: InBrowser) {
  const stateOf = (page: Page) => page.evaluate<State>("task.getState()");
  return {
    stateOf,
    /** Chooses the file as a user does, and starts. */
    async startUpload(page: Page, name: string, options: object = {}): Promise<void> {
      await page.setInputFiles("#file", suite.pathTo(name));
      const given = JSON.stringify({ endpoint: "/api/upload", retryDelayMs: 20, ...options });
      await page.evaluate(`
        window.uploader = sdk.createUploader(${given});
        window.seen = [];
        uploader.subscribe(() => seen.push(...uploader.getSnapshot().uploads));
        [window.task] = uploader.add("any", document.querySelector("#file").files);
      `);
    },
    async ended(page: Page): Promise<State> {
      await page.waitForFunction(`["done", "failed", "cancelled"].includes(task.getState().status)`, null, {
        timeout: 0,
      });
      return stateOf(page);
    },
    async assertStored(state: State, expected: Uint8Array): Promise<void> {
      assert.equal(state.status, "done", JSON.stringify(state.error));
      await suite.assertStored(state.uploaded?.url, expected);
    },
  };
}

/** What a page remembers comes a moment after what the storage has. */
async function untilRemembered(page: Page, sentBytes: number): Promise<void> {
  const hasIt = `new Promise((resolve) => {
    const opening = indexedDB.open("upstow", 1);
    opening.onsuccess = () => {
      const reading = opening.result.transaction("uploads").objectStore("uploads").getAll();
      reading.onsuccess = () => {
        opening.result.close();
        resolve(reading.result.some((upload) => upload.sentBytes === ${sentBytes}));
      };
    };
  })`;
  await page.waitForFunction(hasIt, null, { timeout: 0, polling: 50 });
}

/** Closes the page of an upload of "large.bin" when half of it has arrived, and goes on in another one. */
export async function resumeAfterClose(suite: InBrowser, large: Uint8Array): Promise<void> {
  const { storage, arrived, openPage } = suite;
  const { startUpload, ended, assertStored } = createUploads(suite);
  const half = Math.floor(partsOf(large) / 2);
  storage().allow(half);
  const first = await openPage();
  await startUpload(first, "large.bin");
  await until(() => arrived().length === half);
  await untilRemembered(first, half * 5 * MB);
  await first.close();
  storage().dropHeld();
  storage().puts.length = 0;
  storage().allow(Number.POSITIVE_INFINITY);

  const second = await openPage();
  const listResumable = (endpoint: string) =>
    second.evaluate<{ name: string; sentBytes: number }[]>(
      `sdk.createUploader({ endpoint: "${endpoint}" }).listResumable()`,
    );
  // The browser lets go of the page's lock a moment after the page.
  await until(async () => (await listResumable("/api/upload")).length > 0);
  const resumable = await listResumable("/api/upload");
  assert.deepEqual(
    resumable.map((upload) => [upload.name, upload.sentBytes]),
    [["large.bin", half * 5 * MB]],
  );
  assert.deepEqual(await listResumable("/api"), []);
  await startUpload(second, "large.bin");
  const state = await ended(second);
  await assertStored(state, large);
  assert.equal(state.isResumed, true);
  // Bodies of the first page that its browser lets go of late do not count: none of them arrives whole.
  const sent = storage().puts.filter((put) => put.status !== null);
  assert.equal(sent.length, partsOf(large) - half);
  const sentBytes = sent.reduce((sum, put) => sum + put.receivedBytes, 0);
  assert.equal(sentBytes, large.length - half * 5 * MB);
  assert.deepEqual(await second.evaluate("uploader.listResumable()"), []);
}
