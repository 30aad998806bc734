import assert from "node:assert/strict";
import type { Page } from "playwright-core";

export const focusedName =
  "document.activeElement.getAttribute('aria-label') ?? document.activeElement.labels?.[0]?.firstChild?.textContent.trim() ?? document.activeElement.textContent.trim()";

/** Moves the focus with Tab alone. */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let i = 0; i < 80; i++) {
    if ((await page.evaluate(focusedName)) === name) return;
    await page.keyboard.press("Tab");
  }
  assert.equal(await page.evaluate(focusedName), name);
}

export async function pressOn(page: Page, name: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press("Enter");
}
