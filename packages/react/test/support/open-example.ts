import assert from "node:assert/strict";
import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import type { TestFile } from "./files.ts";
import type { TestSite } from "./start-site.ts";

/** What a visitor does with one component. */
interface Handling {
  root: Locator;
  /** What a screen reader was told last. */
  status: Locator;
  choose(...files: TestFile[]): Promise<void>;
  drop(...files: TestFile[]): Promise<void>;
  paste(...files: TestFile[]): Promise<void>;
}

interface OpenPage {
  page: Page;
  /** Fails if the page complained: hydration, policy, keys, anything. */
  close(): Promise<void>;
}

export interface OpenExamples extends OpenPage {
  handle(slug: string): Handling;
}

export interface OpenExample extends OpenPage, Handling {}

export interface OpenOptions {
  viewport?: { width: number; height: number };
  colorScheme?: "light" | "dark";
  reducedMotion?: "reduce" | "no-preference";
  direction?: "ltr" | "rtl";
  permissions?: string[];
  /** The browser's language, such as "de-DE". */
  locale?: string;
  /** The page's own clock, which tests move; a stopped one moves only then. */
  clock?: "running" | "stopped";
}

export async function openExample(
  browser: Browser,
  site: TestSite,
  slug: string,
  options: OpenOptions = {},
): Promise<OpenExample> {
  const { page, handle, close } = await openExamples(browser, site, [slug], options);
  return { page, ...handle(slug), close };
}

/** Opens a page with these examples, rendered on the server and hydrated. */
export async function openExamples(
  browser: Browser,
  site: TestSite,
  slugs: string[],
  options: OpenOptions = {},
): Promise<OpenExamples> {
  const { direction = "ltr", clock } = options;
  const { page, leave } = await openPage(browser, options);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    const isOwn = message.text().includes("Failed to load resource");
    if (["error", "warning"].includes(message.type()) && !isOwn) complaints.push(message.text());
  });
  const openedMs = Date.now();
  if (clock !== undefined) await page.clock.install({ time: openedMs });
  await page.goto(`${site.url}/?dir=${direction}&${slugs.map((slug) => `c=${slug}`).join("&")}`);
  await page.waitForSelector("html[data-ready]");
  if (clock === "stopped") await page.clock.pauseAt(openedMs + 3_600_000);
  const folder = await mkdtemp(join(tmpdir(), "upstow-react-"));

  function handle(slug: string): Handling {
    const example = page.locator(`[data-example=${slug}]`);
    const root = example.locator("[data-us-root]").first();
    return {
      root,
      status: example.locator("[role=status]").first(),
      async choose(...files) {
        // Browsers open a path at once; bytes would have to travel through the debugger.
        const paths = await Promise.all(files.map((file) => saveFile(folder, file)));
        await example.locator("input[type=file]").first().setInputFiles(paths);
      },
      drop: (...files) => transfer(root, "drop", files),
      paste: (...files) => transfer(root, "paste", files),
    };
  }

  return {
    page,
    handle,
    async close() {
      await leave(site.url);
      await rm(folder, { recursive: true });
      assert.deepEqual(complaints, []);
    },
  };
}

/** Half of what opening a page costs goes into a process of its own, so one goes on to the next example. */
const idlePages = new WeakMap<Browser, Page>();

async function openPage(browser: Browser, options: OpenOptions) {
  const {
    viewport = { width: 900, height: 700 },
    colorScheme,
    reducedMotion,
    direction: _,
    ...rest
  } = options;
  const isOrdinary = Object.keys(rest).length === 0;
  const idle = isOrdinary ? idlePages.get(browser) : undefined;
  idlePages.delete(browser);
  const { clock: __, ...context } = rest;
  const page = idle ?? (await browser.newPage(context));
  page.setDefaultTimeout(60_000);
  await page.setViewportSize(viewport);
  await page.emulateMedia({
    colorScheme: colorScheme ?? "light",
    reducedMotion: reducedMotion ?? "no-preference",
  });
  return {
    page,
    async leave(origin: string): Promise<void> {
      page.removeAllListeners();
      if (!isOrdinary) return page.close();
      await page.unrouteAll();
      await page.goto(`${origin}/left`);
      const tools = await page.context().newCDPSession(page);
      await tools.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
      await tools.detach();
      idlePages.set(browser, page);
    },
  };
}

async function transfer(root: Locator, type: "drop" | "paste", files: TestFile[]): Promise<void> {
  const given = files.map(({ name, mimeType, buffer }) => ({
    name,
    mimeType,
    base64: buffer.toString("base64"),
  }));
  await root.evaluate(sendTransfer, { type, given });
}

async function saveFile(folder: string, { name, buffer, modifiedAt }: TestFile): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, buffer);
  if (modifiedAt !== undefined) await utimes(path, modifiedAt, modifiedAt);
  return path;
}

/** What a browser has and Node has not. */
interface PageGlobals {
  DataTransfer: new () => { items: { add(file: File): void } };
  DragEvent: new (type: string, options: object) => Event;
  ClipboardEvent: new (type: string, options: object) => Event;
}

/** Runs in the page: the events of a drop or a paste, on the element itself as a hand would do it. */
async function sendTransfer(
  element: unknown,
  { type, given }: { type: string; given: { name: string; mimeType: string; base64: string }[] },
): Promise<void> {
  const { DataTransfer, DragEvent, ClipboardEvent } = globalThis as unknown as PageGlobals;
  const data = new DataTransfer();
  for (const { name, mimeType, base64 } of given) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    data.items.add(new File([bytes], name, { type: mimeType }));
  }
  const target = element as EventTarget;
  const options = { bubbles: true, cancelable: true };
  if (type === "paste") {
    target.dispatchEvent(new ClipboardEvent("paste", { ...options, clipboardData: data }));
    return;
  }
  for (const name of ["dragenter", "dragover", "drop"]) {
    target.dispatchEvent(new DragEvent(name, { ...options, dataTransfer: data }));
    // React draws between the events of a real drag.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
