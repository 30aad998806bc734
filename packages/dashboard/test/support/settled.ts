import type { Locator, Page } from "playwright-core";
import { until } from "../../../server/test/support/webhooks/until.ts";

const isSettled = `document.querySelector(".loading, .stale, [aria-busy=true]") === null
  && document.fonts.status === "loaded"
  && document.getAnimations().every(({ playState, effect }) =>
    playState !== "running" || effect.getComputedTiming().iterations === Infinity)`;

/** Nothing that the page shows is still on its way. */
export async function untilSettled(page: Page): Promise<void> {
  await until(() => page.evaluate(isSettled));
}

/** What a button puts into the clipboard, however briefly it says so. */
export async function copyWith(page: Page, button: Locator): Promise<string> {
  await page.evaluate("navigator.clipboard.writeText('')");
  await button.click();
  return until(async () => String(await page.evaluate("navigator.clipboard.readText()")) || null);
}

/** From here on no timer of the page runs, so that no window closes however long the test takes. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.pauseAt(Date.now() + 60 * 60 * 1000);
}
