import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { findBarriers } from "../../../../test/support/axe.ts";
import { untilSettled } from "./settled.ts";

export const phone = { width: 390, height: 800 };
const desk = { width: 1280, height: 800 };

/** Nothing stands out of a phone's width, and nothing stands in anybody's way there or on a desk, by day or night. */
export async function expectGoodLook(page: Page, name: string): Promise<void> {
  for (const view of [desk, phone]) {
    await page.setViewportSize(view);
    await untilSettled(page);
    const where = `${name}, ${view.width} pixels wide`;
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), view.width, where);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await findBarriers(page), [], `${where}, ${colorScheme}`);
    }
  }
}
