import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findBarriers } from "../../../test/support/axe.ts";
import { isQuickRun } from "../../../test/support/quick-run.ts";
import { getBrowser } from "../../server/test/support/shared-browser.ts";
import { habits, representatives, uploading } from "./support/drive.ts";
import { expectSoon } from "./support/expect-soon.ts";
import { png, text } from "./support/files.ts";
import { openExamples } from "./support/open-example.ts";
import { getSite } from "./support/shared-site.ts";

const longName = `${"a-name-that-does-not-end-".repeat(6)}.png`;

/** They lie above the rest of a page, take what is dragged over it, or are a landmark named like another. */
const needsOwnPage = new Set(["upload-modal", "file-list", "dropzone-page", "notification-panel"]);
/** The representatives are made of nearly every part that the others have. */
const examined = isQuickRun ? uploading.filter(({ slug }) => representatives.includes(slug)) : uploading;
const categories = new Set(
  examined.filter(({ slug }) => !needsOwnPage.has(slug)).map(({ category }) => category),
);

/** What runs out of sight sideways; lines of a text that is shown as it is may. */
const scrolledSideways = `[...document.querySelectorAll("[data-us-root], [data-us-root] *")]
  .filter((element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX))
  .filter((element) => element.localName !== "pre" && element.scrollWidth > element.clientWidth)
  .map((element) => element.className + ": " + element.scrollWidth + " px in " + element.clientWidth)`;

/** Opens components with every kind of file in them, in both schemes and directions. */
async function examine(slugs: string[]): Promise<void> {
  const [browser, site] = await Promise.all([getBrowser(), getSite()]);
  const viewport = { width: 390, height: 844 };
  const calm = { viewport, reducedMotion: "reduce" as const };
  const opened = await openExamples(browser, site, slugs, {
    ...calm,
    colorScheme: "light",
    direction: "rtl",
  });
  const { page } = opened;
  assert.deepEqual(await findBarriers(page), [], "empty");

  for (const slug of slugs) {
    const example = opened.handle(slug);
    const { opensBy, startsBy, waitsMs } = habits[slug] ?? {};
    if (opensBy !== undefined) await page.getByRole("button", { name: opensBy }).click();
    site.refuseOnce.add(`${slug}-refused.png`);
    await example.choose(png(`${slug}-refused.png`));
    await example.choose(png(`${slug}-${longName}`));
    await example.drop(text(`${slug}-notes.txt`));
    await expectSoon(() => example.status.textContent(), /added|uploaded|failed|Uploading/);
    if (startsBy !== undefined || waitsMs !== undefined) continue;
    await expectSoon(async () => String(site.completed.includes(`${slug}-${longName}`)), /true/);
  }
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await findBarriers(page, { onlyColours: colorScheme === "dark" }), [], colorScheme);
  }
  assert.deepEqual(await page.evaluate(scrolledSideways), [], "wider than the room it has");
  const widths = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]";
  const [scrolled, shown] = (await page.evaluate(widths)) as [number, number];
  assert.ok(scrolled <= shown, `${scrolled} px wide on a screen of ${shown}`);
  await opened.close();
}

const inPlace = (wanted: string) =>
  examined.filter(({ slug, category }) => category === wanted && !needsOwnPage.has(slug));

describe("barriers, in light and dark, on a phone, from right to left", () => {
  for (const category of categories) {
    it(`are in no ${category} component`, () => examine(inPlace(category).map(({ slug }) => slug)));
  }
  for (const { slug } of examined.filter((entry) => needsOwnPage.has(entry.slug))) {
    it(`are not in ${slug}`, () => examine([slug]));
  }
});
