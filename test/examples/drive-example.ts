import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { browserMissing, startBrowser } from "../../packages/server/test/support/browser.ts";
import { startApp } from "../../packages/server/test/support/start-app.ts";
import { pickFreePort } from "../support/free-port.ts";
import { buildExample, installExample, startExample } from "./run-example.ts";

export interface Example {
  /** Its folder below `examples`. */
  name: string;
  isBuilt: boolean;
  /** What its server is run with, by node. */
  server: (port: number) => string[];
  file: { name: string; mimeType: string; sizeBytes: number };
  /** Its page shows our components, whose colours have to survive its bundler. */
  hasComponents?: boolean;
  /** What else it shows, on the same page afterwards. */
  thenDrive?: (page: Page) => Promise<void>;
}

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Builds an example and uploads through its page in a real browser, to a real service. */
export function driveExample(example: Example): void {
  describe(`the example ${example.name}`, { skip: browserMissing }, () => {
    it("is installed from its lockfile and the packages as they are published", () =>
      installExample(example.name));

    if (example.isBuilt) it("builds", () => buildExample(example.name));

    it("stores what a visitor chooses, and its page complains of nothing", async () => {
      const app = await startApp({ database: "sqlite" });
      const port = await pickFreePort();
      const env = { UPSTOW_URL: app.url, UPSTOW_API_KEY: app.owner.live };
      const site = await startExample(example.name, example.server(port), port, env);
      const browser = await startBrowser();
      try {
        const page = await browser.newPage();
        const complaints = collectComplaints(page);
        await page.goto(site.url);
        await untilAlive(page);
        if (example.hasComponents === true) await expectColours(page);
        await upload(page, example);
        assert.deepEqual(complaints, []);
        const { body } = await app.call("GET", "files", { key: app.owner.live });
        assert.deepEqual(
          body.files.map((file: { name: string; status: string }) => [file.name, file.status]),
          [[example.file.name, "UPLOADED"]],
        );
        await example.thenDrive?.(page);
      } finally {
        await browser.close();
        await site.stop();
        await app.close();
      }
    });
  });
}

/** Warnings count: React tells of a page that differs from what the server rendered by one. */
export function collectComplaints(page: Page): string[] {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  return complaints;
}

/** A page that a server has rendered shows its field before anything listens to it. */
export async function untilAlive(page: Page): Promise<void> {
  const tools = await page.context().newCDPSession(page);
  for (;;) {
    const { result } = await tools.send("Runtime.evaluate", { expression: "document" });
    const objectId = result.objectId ?? "";
    const { listeners } = await tools.send("DOMDebugger.getEventListeners", { objectId, depth: -1 });
    if (listeners.some(({ type }) => type === "change")) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Runs in the page. */
const readButton = `(() => {
  const { backgroundColor, paddingInlineStart } = getComputedStyle(document.querySelector(".us-button"));
  return [backgroundColor, paddingInlineStart];
})()`;

/** The button as visitors see it, in both schemes. */
async function expectColours(page: Page): Promise<void> {
  const accents = { light: "rgb(79, 70, 229)", dark: "rgb(139, 135, 255)" };
  for (const [colorScheme, accent] of Object.entries(accents) as ["light" | "dark", string][]) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const [colour, padding] = await page.evaluate<string[]>(readButton);
    assert.deepEqual([colour, padding], [accent, "16px"], colorScheme);
  }
}

async function upload(page: Page, { file }: Example): Promise<void> {
  const { name, mimeType, sizeBytes } = file;
  const buffer = randomBytes(sizeBytes);
  await page.setInputFiles("input[type=file]", { name, mimeType, buffer });
  const link = page.locator("a[href*='/f/']");
  await link.waitFor({ timeout: 0 });
  const answer = await fetch((await link.getAttribute("href")) ?? "");
  assert.equal(hashOf(new Uint8Array(await answer.arrayBuffer())), hashOf(buffer));
}
