import assert from "node:assert/strict";
import { behaviours } from "../support/behaviour.ts";
import { expectSoon } from "../support/expect-soon.ts";
import { png } from "../support/files.ts";

const shows = behaviours();

shows("gallery-grid", "is put in order with the arrow keys, and says so", async (stage) => {
  const { page, choose, button, logged, says } = stage;
  await choose(png("a.png"), png("b.png"), png("c.png"));
  await says(/All done: 3/);
  await button("Move c.png with the arrow keys").focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await expectSoon(async () => logged.at(-1) ?? "", /c\.png, a\.png, b\.png/);
  const cover = page.locator(".us-grid-tile", { hasText: "Cover" });
  assert.equal(await cover.locator(".us-name").getAttribute("title"), "c.png");
  await page.keyboard.press("ArrowLeft");
  assert.equal(logged.length, 2, "the first cannot go further");
});

shows("gallery-timeline", "puts files under the days they were made, the latest first", async (stage) => {
  const { page, choose } = stage;
  const at = (day: string) => new Date(`${day}T12:00:00`);
  await choose(
    { ...png("old.png"), modifiedAt: at("2024-02-01") },
    { ...png("new.png"), modifiedAt: at("2026-05-04") },
    { ...png("newer.png"), modifiedAt: new Date("2026-05-04T18:00:00") },
  );
  const days = page.locator(".us-timeline-day");
  await days.nth(1).waitFor();
  assert.deepEqual(await days.locator("time").allTextContents(), ["May 4, 2026", "February 1, 2024"]);
  const titles = await days.first().locator(".us-name").all();
  assert.deepEqual(await Promise.all(titles.map((name) => name.getAttribute("title"))), [
    "newer.png",
    "new.png",
  ]);
});

shows("gallery-kanban", "starts the card that is dragged under way, and no other", async (stage) => {
  const { page, site, choose, isStored } = stage;
  await choose(png("a.png"), png("b.png"));
  const card = page.locator(".us-kanban-card", { hasText: "b.png" });
  await card.dragTo(page.locator("[data-column=underWay]"));
  await isStored("b.png");
  await page.locator("[data-column=done] [data-status=done]").waitFor();
  assert.equal(await page.locator("[data-column=waiting] [data-status=staged]").count(), 1);
  assert.deepEqual(site.completed, ["b.png"]);
});

shows(
  "gallery-polaroid",
  "develops while it uploads, and takes a caption",
  async ({ page, site, choose, logged, css, isStored }) => {
    const grey = async () =>
      Number(/grayscale\(([\d.]+)\)/.exec(await css(".us-polaroid-thumb", "filter"))?.[1]);
    site.refuseOnce.add("a.png");
    await choose(png("a.png"));
    await page.locator("[data-status=failed]").waitFor();
    assert.equal(await grey(), 1);
    await page.getByRole("button", { name: "Retry a.png" }).click();
    await isStored("a.png");
    await expectSoon(async () => String(await grey()), /^0$/);
    await page.getByLabel("Caption for a.png").fill("The harbour");
    await page.keyboard.press("Tab");
    await expectSoon(async () => logged.join(), /^a\.png The harbour$/);
  },
  { reducedMotion: "reduce" },
);
