import assert from "node:assert/strict";
import { test } from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { phone } from "./good-look.ts";

export const focusedName =
  "document.activeElement.getAttribute('aria-label') ?? document.activeElement.labels?.[0]?.firstChild?.textContent.trim() ?? document.activeElement.textContent.trim()";

/** Where the focus can be seen: not nowhere, with a ring, and under nothing that sticks or floats. */
const problemOfFocus = `(() => {
  const focused = document.activeElement;
  if (focused === document.body) return "nothing has the focus";
  if (focused.id === "content" || focused.type === "file") return null;
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(focused);
  const hasRing = (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none";
  if (!hasRing && focused.closest(".palette") === null) return "no ring";
  const [box] = focused.getClientRects();
  if (box === undefined) return "not drawn";
  const x = box.left + box.width / 2;
  const y = box.top + Math.min(box.height, 32) / 2;
  const top = document.elementFromPoint(x, y);
  if (top === null) return "outside of the window";
  return focused.contains(top) || top.contains(focused) ? null : "under " + top.outerHTML.slice(0, 100);
})()`;

export async function expectVisibleFocus(page: Page, where = ""): Promise<void> {
  let problem: unknown = await page.evaluate(problemOfFocus);
  // A page scrolls to what has the focus a moment later.
  for (let tries = 0; problem !== null && tries < 100; tries++) {
    await page.waitForTimeout(50);
    problem = await page.evaluate(problemOfFocus);
  }
  assert.equal(problem, null, `${where} "${String(await page.evaluate(focusedName)).slice(0, 60)}"`);
}

/** Moves the focus with Tab alone, and sees it at every step. */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let i = 0; i < 80; i++) {
    if ((await page.evaluate(focusedName)) === name) return;
    await page.keyboard.press("Tab");
    // After the last element the browser's own controls have their turn.
    const isInPage = await page.evaluate("document.activeElement !== document.body");
    if (isInPage) await expectVisibleFocus(page, `on the way to ${name}:`);
  }
  assert.equal(await page.evaluate(focusedName), name);
}

export async function pressOn(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press("Enter");
}

/** A page of the navigation, which phones show after a press on its button. */
export async function pressOnPage(page: Page, name: string): Promise<void> {
  const menu = page.getByRole("button", { name: "Menu" });
  if ((await menu.isVisible()) && (await menu.getAttribute("aria-expanded")) === "false")
    await pressOn(page, "Menu");
  await pressOn(page, name);
}

/** By keyboard alone, on a desk by day and on a phone by night. */
export function testByKeyboard(task: string, run: (view: BrowserContextOptions) => Promise<void>): void {
  test(`by keyboard alone: ${task}`, () => run({}));
  test(`by keyboard alone, on a phone in the dark: ${task}`, () =>
    run({ viewport: phone, colorScheme: "dark" }));
}
