import assert from "node:assert/strict";
import { getBrowser } from "../../../server/test/support/shared-browser.ts";
import { catalogue } from "../../src/catalogue/index.ts";
import { expectSoon } from "./expect-soon.ts";
import { png } from "./files.ts";
import { openExample } from "./open-example.ts";
import { getSite } from "./shared-site.ts";

/** How an example differs from the others before its uploads begin. */
interface Habits {
  /** The button that has to be pressed before anything can be chosen. */
  opensBy?: string;
  /** The button that begins. */
  startsBy?: string | RegExp;
  /** How long it waits by itself. */
  waitsMs?: number;
  /** What is sent is not what was chosen, so that its progress cannot be held half-way. */
  isSmall?: boolean;
}

export const habits: Record<string, Habits> = {
  "upload-modal": { opensBy: "Add photos" },
  "button-undo": { waitsMs: 6_000 },
  "avatar-upload": { startsBy: "Use this", isSmall: true },
  "upload-wizard": { startsBy: "Upload" },
  "gallery-kanban": { startsBy: /^Upload \(/ },
};

/** What shows stored files, or takes a URL, has nothing to choose. */
export const uploading = catalogue.filter(
  ({ category, slug }) => category !== "display" && slug !== "upload-from-url",
);

/** One that begins at once, one in a dialog and one that waits for a button; the others are driven in the slow tests. */
export const representatives = ["upload-dropzone", "upload-modal", "gallery-kanban"];

/** Chooses, watches, cancels, drops, pastes, is refused and tries again: what every component can do. */
export async function driveExample(slug: string): Promise<void> {
  const [browser, site] = await Promise.all([getBrowser(), getSite()]);
  const { opensBy, startsBy, waitsMs, isSmall = false } = habits[slug] ?? {};
  const example = await openExample(browser, site, slug, waitsMs === undefined ? {} : { clock: "running" });
  const { page } = example;
  const name = (what: string) => `${slug}-${what}.png`;
  const button = (text: string | RegExp) => page.getByRole("button", { name: text, exact: true }).first();
  const begin = async () => {
    if (waitsMs !== undefined) await page.clock.fastForward(waitsMs);
    if (startsBy !== undefined) await button(startsBy).click();
  };
  const says = (text: RegExp) => expectSoon(() => example.status.textContent(), text);
  const isStored = (file: string) =>
    expectSoon(async () => (site.completed.includes(file) ? "stored" : site.completed.join()), /^stored$/);

  if (opensBy !== undefined) await button(opensBy).click();

  site.storage.allow(0);
  await example.choose(png(name("chosen"), 6_000_000));
  await begin();
  const bar = page.locator("[role=progressbar]").first();
  const half = isSmall ? /^\d+$/ : /^[1-9]\d?$/;
  await expectSoon(() => bar.getAttribute("aria-valuenow"), half);
  await button(/^Cancel/).click();
  await says(/Cancelled|^$/);
  site.storage.allow(Number.POSITIVE_INFINITY);

  await example.drop(png(name("dropped")));
  await begin();
  await isStored(name("dropped"));
  await says(/uploaded/);

  await example.paste(png(name("pasted")));
  await begin();
  await isStored(name("pasted"));

  site.refuseOnce.add(name("refused"));
  await example.choose(png(name("refused")));
  await begin();
  await says(/refused\.png failed: Not today\./);
  assert.equal(await page.getByText("Not today.").first().isVisible(), true);
  await button(new RegExp(`^Retry( ${name("refused")})?$`)).click();
  await isStored(name("refused"));
  await says(/uploaded/);
  assert.equal(site.completed.includes(name("chosen")), false, "a cancelled file was stored");
  await example.close();
}
