import assert from "node:assert/strict";
import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { findBarriers } from "../../../../test/support/axe.ts";
import { behaviours, type Stage } from "../support/behaviour.ts";
import { expectSoon } from "../support/expect-soon.ts";

const MB = 1024 * 1024;
const shows = behaviours();
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "upstow-resume-"));
});
after(() => rm(folder, { recursive: true }));

/** Three and a bit parts; the time is when it was last changed. */
async function saveMovie(time = new Date(1_700_000_000_000)): Promise<string> {
  const path = join(folder, "movie.mp4");
  await writeFile(path, Buffer.alloc(16 * MB, 7));
  await utimes(path, time, time);
  return path;
}

const arrived = ({ site }: Stage) => site.storage.puts.filter(({ status }) => status === 200).length;

/** What the browser remembers to have arrived. */
const readSaved = `new Promise((resolve, reject) => {
  const opening = indexedDB.open("upstow", 1);
  opening.onerror = reject;
  opening.onsuccess = () => {
    const reading = opening.result.transaction("uploads").objectStore("uploads").getAll();
    reading.onsuccess = () => {
      opening.result.close();
      resolve(reading.result.map(({ sentBytes }) => sentBytes).join());
    };
  };
})`;

async function chooseMovie({ page }: Stage): Promise<unknown> {
  return page
    .locator("input[type=file]")
    .first()
    .setInputFiles(await saveMovie());
}

/** Uploads two parts, then loads the page anew. */
async function leaveUnfinished(stage: Stage, add = () => chooseMovie(stage)): Promise<void> {
  const { site, page } = stage;
  site.storage.puts.length = 0;
  site.storage.allow(2);
  await add();
  await expectSoon(() => page.evaluate<string>(readSaved), new RegExp(`^${10 * MB}$`));
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  site.storage.dropHeld();
  site.storage.puts.length = 0;
  site.storage.allow(Number.POSITIVE_INFINITY);
}

async function continueWith({ page, button }: Stage, path: string): Promise<void> {
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    button("Continue movie.mp4").click(),
  ]);
  assert.equal(chooser.isMultiple(), false);
  await chooser.setFiles(path);
}

shows("upload-dropzone", "continues after a reload with the same file, and with no other", async (stage) => {
  const { page, isStored, site } = stage;
  await leaveUnfinished(stage);
  const rows = page.locator("[data-status=unfinished]");
  await expectSoon(() => rows.allTextContents().then(String), /movie\.mp463% of 16 MBContinue/);

  await continueWith(stage, await saveMovie(new Date(1_800_000_000_000)));
  await expectSoon(() => page.locator("[data-status=rejected]").textContent(), /Select the original movie/);
  assert.equal(await rows.count(), 1);
  assert.equal(site.storage.puts.length, 0);

  await continueWith(stage, await saveMovie());
  await isStored("movie.mp4");
  assert.equal(arrived(stage), 2);
  await expectSoon(async () => String(await rows.count()), /^0$/);
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  assert.equal(await rows.count(), 0);
});

shows("upload-dropzone", "adds what is chosen after a chooser for another file was closed", async (stage) => {
  const { page, button, isStored, choose } = stage;
  await leaveUnfinished(stage);
  await Promise.all([page.waitForEvent("filechooser"), button("Continue movie.mp4").click()]);
  await Promise.all([page.waitForEvent("filechooser"), button("Choose files").click()]);
  await choose({ name: "other.txt", mimeType: "text/plain", buffer: Buffer.from("other") });
  await isStored("other.txt");
});

/** Drops a file whose handle lies in the page's own file system, which is open without asking. */
const dropKept = `(async () => {
  const folder = await navigator.storage.getDirectory();
  const handle = await folder.getFileHandle("movie.mp4", { create: true });
  const writable = await handle.createWritable();
  await writable.write(new Uint8Array(${16 * MB}).fill(7));
  await writable.close();
  DataTransferItem.prototype.getAsFileSystemHandle = async () => handle;
  const data = new DataTransfer();
  data.items.add(await handle.getFile());
  const drop = new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data });
  document.querySelector("[data-us-root]").dispatchEvent(drop);
})()`;

shows("upload-dropzone", "continues what was dropped without choosing it again", async (stage) => {
  const { button, isStored, page } = stage;
  await leaveUnfinished(stage, () => page.evaluate(dropKept));
  await button("Continue movie.mp4").click();
  await isStored("movie.mp4");
  assert.equal(arrived(stage), 2);
});

for (const slug of ["upload-dropzone", "upload-button"]) {
  shows(
    slug,
    "shows and discards an unfinished upload on a phone without a barrier, in light and dark",
    async (stage) => {
      const { page, button } = stage;
      await leaveUnfinished(stage);
      await expectSoon(() => page.locator("[data-status=unfinished]").textContent(), /Continue/);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await findBarriers(page, { onlyColours: colorScheme === "dark" }), [], colorScheme);
      }
      const [scrolled, seen] = await page.evaluate<[number, number]>(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
      );
      assert.ok(scrolled <= seen, `${scrolled} px wide on a screen of ${seen}`);
      await button("Discard movie.mp4").click();
      await expectSoon(async () => String(await page.locator("[data-status=unfinished]").count()), /^0$/);
      await expectSoon(() => page.evaluate<string>(readSaved), /^$/);
    },
    { viewport: { width: 390, height: 844 }, reducedMotion: "reduce" },
  );
}
