import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach } from "node:test";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { getBrowser } from "../../../server/test/support/shared-browser.ts";
import { hashOf, hashStored } from "./hash-stored.ts";
import { startApplication, type TestApplication } from "./start-application.ts";
import type { SeenPut, StorageProxy } from "./storage-proxy.ts";

export interface InBrowser {
  application(): TestApplication;
  /** The line to the storage, undisturbed at the beginning of each test. */
  storage(): StorageProxy;
  /** PUTs that the storage has confirmed. */
  arrived(): SeenPut[];
  context(): BrowserContext;
  /** Of a file that can be chosen. */
  pathTo(name: string): string;
  openPage(): Promise<Page>;
  /** Names of files whose upload has not ended. */
  listOpen(): Promise<string[]>;
  assertStored(url: string | undefined, expected: Uint8Array): Promise<void>;
}

/** For a whole suite: an application, a browser with a profile of its own for each test, and files to choose. */
export function inBrowser(
  files: Record<string, Uint8Array>,
  options: Parameters<typeof startApplication>[0] = {},
): InBrowser {
  let application: TestApplication;
  let browser: Browser;
  let context: BrowserContext | null = null;
  let folder: string;
  const storage = () => application.service.storage;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "upstow-browser-"));
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
    [application, browser] = await Promise.all([startApplication(options), getBrowser()]);
  });
  after(async () => {
    await context?.close();
    await application.close();
    await rm(folder, { recursive: true });
  });
  beforeEach(async () => {
    await context?.close();
    // What the page before was sending may still be held: it must not end as a PUT of this one.
    storage().dropHeld();
    storage().puts.length = 0;
    storage().calls.length = 0;
    storage().losesAnswer = () => false;
    storage().cutsPut = () => false;
    storage().allow(Number.POSITIVE_INFINITY);
    context = await browser.newContext();
  });

  function getContext(): BrowserContext {
    if (context === null) throw new Error("there is a context only in a test");
    return context;
  }

  return {
    application: () => application,
    storage,
    arrived: () => storage().puts.filter((put) => put.status === 200),
    context: getContext,
    pathTo: (name) => join(folder, name),
    async openPage() {
      const opened = await getContext().newPage();
      await opened.goto(application.site.url);
      await opened.waitForFunction("window.isReady", null, { timeout: 0 });
      return opened;
    },
    async listOpen() {
      const { app, apiKey } = application.service;
      const { body } = await app.call("GET", "files", { key: apiKey });
      const listed: { name: string; status: string }[] = body.files;
      return listed.filter(({ status }) => status === "UPLOADING").map(({ name }) => name);
    },
    async assertStored(url, expected) {
      assert.equal(await hashStored(url ?? ""), hashOf(expected));
    },
  };
}
