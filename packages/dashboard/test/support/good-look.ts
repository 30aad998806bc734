import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { untilSettled } from "./settled.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const found = "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))";
export const phone = { width: 390, height: 800 };
const desk = { width: 1280, height: 800 };

/** Nothing stands out of a phone's width, and nothing stands in anybody's way there or on a desk. */
export async function expectGoodLook(page: Page, name: string): Promise<void> {
  for (const view of [desk, phone]) {
    await page.setViewportSize(view);
    await untilSettled(page);
    const where = `${name}, ${view.width} pixels wide`;
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), view.width, where);
    assert.deepEqual(await page.evaluate(`${axe};${found}`), [], where);
  }
}
