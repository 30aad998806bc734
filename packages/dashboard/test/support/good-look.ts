import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { untilSettled } from "./settled.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
export const phone = { width: 390, height: 800 };

/** Nothing stands out of a phone's width, and nothing stands in anybody's way. */
export async function expectGoodLook(page: Page, name: string): Promise<void> {
  await untilSettled(page);
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), phone.width, name);
  const found = "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))";
  assert.deepEqual(await page.evaluate(`${axe};${found}`), [], name);
}
