import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { findBarriers } from "../../../../test/support/axe.ts";
import { isQuickRun } from "../../../../test/support/quick-run.ts";
import { untilSettled } from "./settled.ts";

export const phone = { width: 390, height: 800 };
const desk = { width: 1280, height: 800 };

interface View {
  size: typeof phone;
  colorScheme: "light" | "dark";
}

/** Every width and every scheme once. */
const someViews: View[] = [
  { size: desk, colorScheme: "light" },
  { size: phone, colorScheme: "dark" },
];
const everyView: View[] = [
  ...someViews,
  { size: desk, colorScheme: "dark" },
  { size: phone, colorScheme: "light" },
];

let looks = 0;
/** What axe examines a page in, which takes longest: in `npm test` both in turns, otherwise all. */
const examinedOf = (views: View[]) =>
  isQuickRun ? views.filter((_, i) => i === looks % views.length) : views;

/** Nothing stands out of a phone's width, and nothing stands in anybody's way there or on a desk, by day or night. */
export const expectGoodLook = (page: Page, name: string) => lookFrom(someViews, page, name);
export const expectGoodLookInEveryView = (page: Page, name: string) => lookFrom(everyView, page, name);

async function lookFrom(views: View[], page: Page, name: string): Promise<void> {
  const examined = examinedOf(views);
  looks++;
  for (const view of views) {
    const { size, colorScheme } = view;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(size);
    await untilSettled(page);
    const where = `${name}, ${size.width} pixels wide, ${colorScheme}`;
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), size.width, where);
    if (examined.includes(view)) assert.deepEqual(await findBarriers(page), [], where);
  }
}
