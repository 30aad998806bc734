import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { findBarriers } from "../../../../test/support/axe.ts";
import { untilSettled } from "./settled.ts";

export const phone = { width: 390, height: 800 };
const desk = { width: 1280, height: 800 };

interface View {
  size: typeof phone;
  colorScheme: "light" | "dark";
}

/** Every width and every scheme once. */
let views: View[] = [
  { size: desk, colorScheme: "light" },
  { size: phone, colorScheme: "dark" },
];

/** Every width in every scheme, from here on. */
export function lookAtEveryView(): void {
  views = [desk, phone].flatMap((size) => [
    { size, colorScheme: "light" as const },
    { size, colorScheme: "dark" as const },
  ]);
}

/** Nothing stands out of a phone's width, and nothing stands in anybody's way there or on a desk, by day or night. */
export async function expectGoodLook(page: Page, name: string): Promise<void> {
  for (const { size, colorScheme } of views) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(size);
    await untilSettled(page);
    const where = `${name}, ${size.width} pixels wide, ${colorScheme}`;
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), size.width, where);
    assert.deepEqual(await findBarriers(page), [], where);
  }
}
