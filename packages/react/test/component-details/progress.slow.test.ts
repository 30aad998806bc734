import assert from "node:assert/strict";
import { behaviours } from "../support/behaviour.ts";
import { expectSoon } from "../support/expect-soon.ts";
import { png, text } from "../support/files.ts";

const shows = behaviours();
const calm = { reducedMotion: "reduce" as const };
const atRest = /^[1-9]\d?$/;

shows(
  "progress-bar",
  "stops everything and goes on again",
  async ({ site, choose, button, page, isStored }) => {
    site.storage.allow(0);
    await choose(png("a.png"), png("b.png"));
    await button("Pause").focus();
    await page.keyboard.press("Enter");
    await page.locator(".us-progress-bar[data-state=paused]").waitFor();
    site.storage.allow(Number.POSITIVE_INFINITY);
    assert.equal(await page.evaluate("document.activeElement.textContent"), "Resume");
    await page.keyboard.press("Enter");
    await isStored("a.png");
    await isStored("b.png");
  },
);

shows(
  "progress-radial",
  "closes its ring as far as the upload is",
  async ({ site, choose, page, css }) => {
    site.storage.allow(0);
    await choose(png("a.png", 6_000_000));
    const bar = page.getByRole("progressbar");
    await expectSoon(() => bar.getAttribute("aria-valuenow"), atRest);
    await expectSoon(async () => {
      const [now, dash] = [
        await bar.getAttribute("aria-valuenow"),
        await css(".us-radial-arc", "stroke-dasharray"),
      ];
      return String(Math.abs(Number.parseFloat(dash) - Number(now) / 100) < 0.01);
    }, /true/);
  },
  calm,
);

shows("progress-stacked", "gives every file a share as large as its size", async ({ page, choose }) => {
  await choose(png("small.png", 500_000), png("large.png", 1_500_000));
  const segments = page.locator(".us-stacked-segment");
  await segments.nth(1).waitFor();
  const widths = await Promise.all(
    [0, 1].map(async (i) => (await segments.nth(i).boundingBox())?.width ?? 0),
  );
  assert.ok(Math.abs((widths[1] ?? 0) / (widths[0] ?? 1) - 3) < 0.1, String(widths));
});

shows(
  "progress-liquid",
  "changes the colour of its number at the water line",
  async ({ site, choose, page, css }) => {
    site.storage.allow(0);
    await choose(png("a.png", 6_000_000));
    const bar = page.getByRole("progressbar");
    await expectSoon(() => bar.getAttribute("aria-valuenow"), atRest);
    await expectSoon(async () => {
      const now = Number(await bar.getAttribute("aria-valuenow"));
      const [, air] = /inset\(([\d.]+)%/.exec(await css(".us-liquid-level", "clip-path")) ?? [];
      return String(Math.abs(100 - Number(air) - now) < 1);
    }, /true/);
  },
  calm,
);

shows("progress-orbit", "gives the last five files a moon each, round once when done", async (stage) => {
  const { page, choose, says } = stage;
  await choose(...Array.from({ length: 7 }, (_, i) => text(`${i}.txt`)));
  await says(/All done: 7 files/);
  const moons = page.locator(".us-orbit-ring");
  assert.equal(await moons.count(), 5);
  const turns = await page.evaluate(
    `[...document.querySelectorAll(".us-orbit-ring")].map((ring) => ring.style.getPropertyValue("--us-progress"))`,
  );
  assert.deepEqual(turns, Array(5).fill("1.0000"));
});

shows("motion-stack", "keeps what wants attention on top of the pile", async (stage) => {
  const { page, site, choose, button } = stage;
  const top = () => page.locator(".us-stack-card[data-status] .us-name").getAttribute("title");
  site.refuseOnce.add("bad.png");
  site.storage.allow(0);
  await choose(png("good.png"));
  await expectSoon(top, /^good\.png$/);
  await choose(png("bad.png"));
  await expectSoon(top, /^bad\.png$/);
  await button("Remove bad.png").click();
  await expectSoon(top, /^good\.png$/);
});

shows(
  "motion-conveyor",
  "carries a parcel as far as its file is, and counts arrivals",
  async ({ page, site, choose }) => {
    site.storage.allow(0);
    await choose(png("a.png", 6_000_000));
    const parcel = page.locator(".us-conveyor-parcel");
    await expectSoon(() => parcel.getAttribute("aria-valuenow"), atRest);
    await expectSoon(async () => {
      const belt = await page.locator(".us-conveyor-belt").boundingBox();
      const box = await parcel.boundingBox();
      const now = Number(await parcel.getAttribute("aria-valuenow"));
      const share = ((box?.x ?? 0) - (belt?.x ?? 0)) / ((belt?.width ?? 0) - 112);
      return String(Math.abs(share * 100 - now) < 2);
    }, /true/);
    site.storage.allow(Number.POSITIVE_INFINITY);
    await expectSoon(() => page.locator(".us-conveyor-end").textContent(), /^1$/);
  },
  calm,
);

shows("motion-magnet", "leans towards what is dragged over it", async ({ page }) => {
  const lean = () =>
    page.evaluate(
      `document.querySelector(".us-magnet-area").style.getPropertyValue("--us-x")`,
    ) as Promise<string>;
  await page.evaluate(`(() => {
    const area = document.querySelector(".us-magnet-area");
    const { right, top } = area.getBoundingClientRect();
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["x"], "x.png", { type: "image/png" }));
    const event = { bubbles: true, cancelable: true, dataTransfer, clientX: right, clientY: top };
    area.dispatchEvent(new DragEvent("dragover", event));
  })()`);
  assert.equal(await lean(), "1.000");
  await page.evaluate(
    `document.querySelector(".us-magnet").dispatchEvent(new DragEvent("dragleave", { bubbles: true }))`,
  );
  assert.equal(await lean(), "0.000");
});

/** Counts from now on: confetti may be gone before a slow test looks. */
const countThrows = `globalThis.thrown = 0; new MutationObserver((changes) => {
  for (const { addedNodes } of changes) {
    for (const node of addedNodes) if (node.matches?.(".us-celebrate-sky")) globalThis.thrown++;
  }
}).observe(document.body, { childList: true, subtree: true })`;

shows("motion-celebrate", "throws confetti once, when the last file is there", async ({ page, choose }) => {
  await page.evaluate(countThrows);
  await choose(png("a.png"), png("b.png"));
  await page.getByText("All done!").waitFor();
  await expectSoon(async () => String(await page.evaluate("globalThis.thrown")), /^1$/);
  await page.locator(".us-celebrate-sky").waitFor({ state: "detached" });
  assert.equal(await page.evaluate("globalThis.thrown"), 1);
});

shows(
  "motion-celebrate",
  "throws nothing where motion is unwelcome",
  async ({ page, choose }) => {
    await page.evaluate(countThrows);
    await choose(png("a.png"));
    await page.getByText("All done!").waitFor();
    assert.equal(await page.evaluate("globalThis.thrown"), 0);
  },
  calm,
);
