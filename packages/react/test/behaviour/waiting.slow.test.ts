import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { findBarriers } from "../../../../test/support/axe.ts";
import { behaviours } from "../support/behaviour.ts";
import { expectSoon } from "../support/expect-soon.ts";
import { png } from "../support/files.ts";
import type { TestSite } from "../support/start-site.ts";

const shows = behaviours([], { rateWindowMs: 8_000, env: { UPSTOW_RATE_LIMITS: "upload=2" } });
/** For the service and for the page, which waits as long as it was told. */
async function endWindow(site: TestSite, page: Page): Promise<void> {
  site.endWindow();
  await page.clock.fastForward(10_000);
}

const waiting = /Waiting \d+ sec: upload limit/;

shows(
  "upload-dropzone",
  "says that it waits for the rate limit, once aloud, and goes on by itself",
  async ({ site, choose, page, button, says, isStored, status }) => {
    await site.useUpLimit();
    await choose(png("a.png"), png("b.png"));
    const row = (name: string) => page.locator("li", { hasText: name });
    await expectSoon(() => row("a.png").textContent(), waiting);
    await says(/^Upload limit reached\. Uploads continue in \d+ sec\.$/);
    const said = await status.textContent();
    const shown = await row("a.png").textContent();
    await expectSoon(async () => String((await row("a.png").textContent()) !== shown), /true/);
    await expectSoon(() => row("a.png").textContent(), waiting);
    assert.equal(await status.textContent(), said);

    await button("Cancel b.png").click();
    await expectSoon(() => row("b.png").textContent(), /Cancelled/);
    await button("Pause a.png").click();
    await expectSoon(() => row("a.png").textContent(), /Paused/);
    await button("Resume a.png").click();
    await expectSoon(() => row("a.png").textContent(), waiting);

    await endWindow(site, page);
    await isStored("a.png");
    assert.deepEqual(site.completed, ["a.png"]);
  },
  { clock: "running" },
);

for (const slug of ["upload-button", "button-morph", "dropzone-terminal", "progress-bar", "gallery-grid"]) {
  shows(
    slug,
    "shows the wait on a phone without a barrier, in light and dark",
    async ({ site, choose, page, root, isStored }) => {
      await site.useUpLimit();
      await choose(png("a.png"));
      await expectSoon(() => root.textContent(), waiting);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await findBarriers(page, { onlyColours: colorScheme === "dark" }), [], colorScheme);
      }
      const [scrolled, seen] = await page.evaluate<[number, number]>(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
      );
      assert.ok(scrolled <= seen, `${scrolled} px wide on a screen of ${seen}`);
      await endWindow(site, page);
      await isStored("a.png");
    },
    { viewport: { width: 390, height: 844 }, reducedMotion: "reduce", clock: "running" },
  );
}
