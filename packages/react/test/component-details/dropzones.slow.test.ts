import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { behaviours, type Stage } from "../support/behaviour.ts";
import { expectSoon } from "../support/expect-soon.ts";
import { png } from "../support/files.ts";

const shows = behaviours();

/** As a hand does it: files and folders of the disk, together with whatever else is dragged along. */
async function dropPaths({ page, root }: Stage, files: string[], texts: string[] = []): Promise<void> {
  const client = await page.context().newCDPSession(page);
  const { x = 0, y = 0 } = (await root.boundingBox()) ?? {};
  const items = texts.map((data) => ({ mimeType: "text/plain", data }));
  for (const type of ["dragEnter", "dragOver", "drop"] as const) {
    const data = { items, files, dragOperationsMask: 1 };
    await client.send("Input.dispatchDragEvent", { type, x: x + 20, y: y + 20, data });
  }
}

async function withFolder(act: (path: string) => Promise<void>): Promise<void> {
  const path = await mkdtemp(join(tmpdir(), "upstow-drop-"));
  try {
    await mkdir(join(path, "album/deeper"), { recursive: true });
    for (const name of ["album/one.txt", "album/deeper/two.txt", "beside.txt", "last.txt"])
      await writeFile(join(path, name), "x");
    await act(path);
  } finally {
    await rm(path, { recursive: true });
  }
}

shows("upload-dropzone", "takes folders and files of a drop that carries text as well", async (stage) => {
  await withFolder(async (path) => {
    const dropped = ["album", "beside.txt", "last.txt"].map((name) => join(path, name));
    await dropPaths(stage, dropped, ["a caption"]);
    await stage.says(/All done: 4 files uploaded/);
    assert.deepEqual(stage.site.completed.toSorted(), ["beside.txt", "last.txt", "one.txt", "two.txt"]);
  });
});

shows("upload-dropzone", "says which folder cannot be opened, and uploads the rest", async (stage) => {
  await stage.page.evaluate(`(() => {
    const { webkitGetAsEntry } = DataTransferItem.prototype;
    const readEntries = (found, failed) => failed(new DOMException("It is gone.", "NotFoundError"));
    DataTransferItem.prototype.webkitGetAsEntry = function () {
      return Object.assign(webkitGetAsEntry.call(this), { createReader: () => ({ readEntries }) });
    };
  })()`);
  await withFolder(async (path) => {
    await dropPaths(stage, [join(path, "album"), join(path, "beside.txt")]);
    await stage.page.getByText("album could not be opened.", { exact: true }).waitFor();
    await stage.isStored("beside.txt");
  });
});

/** Somebody drags a file over the page, far from the component. */
const dragOverPage = `(() => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File(["x"], "x.png", { type: "image/png" }));
  document.body.dispatchEvent(new DragEvent("dragenter", { bubbles: true, dataTransfer }));
})()`;
const leavePage = `document.body.dispatchEvent(new DragEvent("dragleave", { bubbles: true }))`;

shows("dropzone-minimal", "becomes a target when files are dragged anywhere", async ({ page, button }) => {
  await button("Choose files").waitFor();
  await page.evaluate(dragOverPage);
  await page.locator(".us-minimal[data-target]").getByText("Drop files here").waitFor();
  await page.evaluate(leavePage);
  await button("Choose files").waitFor();
});

shows("dropzone-glass", "puts the picture added last behind the glass", async ({ page, choose }) => {
  const behind = page.locator("img.us-glass-behind");
  await choose(png("a.png"));
  const first = await behind.getAttribute("src");
  await choose(png("b.png"));
  await expectSoon(async () => String((await behind.getAttribute("src")) !== first), /true/);
  const last = await page.locator(".us-row img").last().getAttribute("src");
  assert.equal(await behind.getAttribute("src"), last);
});

shows("dropzone-terminal", "does what is typed", async (stage) => {
  const { page, site, choose, says, isStored } = stage;
  const type = async (command: string) => {
    await page.getByLabel("upload $").fill(command);
    await page.keyboard.press("Enter");
  };
  const answer = (wanted: RegExp) => expectSoon(() => page.getByRole("log").textContent(), wanted);
  await type("dance");
  await answer(/^dance: unknown\. Try: add/);
  await type("cancel 7");
  await answer(/^no such file: 7$/);
  site.storage.allow(0);
  await choose(png("a.png"), png("b.png"));
  await page.locator("[data-status=uploading]").nth(1).waitFor();
  await type("cancel 2");
  await says(/b\.png: Cancelled/);
  site.storage.allow(Number.POSITIVE_INFINITY);
  await isStored("a.png");
  assert.deepEqual(site.completed, ["a.png"]);
});

shows("dropzone-bento", "asks for the kind of file that its tile says", async ({ page, button }) => {
  const accept = async () => page.locator("input[type=file]").getAttribute("accept");
  await Promise.all([page.waitForEvent("filechooser"), button("Photos").click()]);
  assert.equal(await accept(), "image/*");
  await Promise.all([page.waitForEvent("filechooser"), button("Documents").click()]);
  assert.match((await accept()) ?? "", /\.pdf/);
  await Promise.all([page.waitForEvent("filechooser"), button("Choose files").click()]);
  assert.equal(await accept(), "");
});

shows(
  "dropzone-page",
  "covers the page while files are dragged, and takes pastes anywhere",
  async (stage) => {
    const { page, isStored } = stage;
    await page.evaluate(dragOverPage);
    const curtain = page.locator(".us-page-overlay");
    await curtain.waitFor();
    const box = await curtain.boundingBox();
    assert.deepEqual([box?.width, box?.height], [900, 700]);
    await page.evaluate(leavePage);
    await curtain.waitFor({ state: "detached" });
    await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File(["pasted"], "pasted.txt", { type: "text/plain" }));
    document.body.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData }));
  })()`);
    await isStored("pasted.txt");
  },
);

shows(
  "button-morph",
  "is a button again a while after its tick",
  async ({ page, choose, button, isStored }) => {
    await choose(png("a.png"));
    await isStored("a.png");
    await button("Uploaded").waitFor();
    await page.clock.fastForward(3_000);
    await button("Choose files").waitFor();
  },
  { clock: "stopped" },
);

shows("button-split", "has a menu that the keyboard opens, walks and closes", async ({ page, button }) => {
  const focused = () =>
    page.evaluate("document.activeElement.textContent || document.activeElement.ariaLabel");
  await button("More ways to add files").focus();
  await page.keyboard.press("ArrowDown");
  await expectSoon(focused as () => Promise<string>, /^A folder$/);
  await page.keyboard.press("ArrowDown");
  assert.equal(await focused(), "Take a photo");
  await page.keyboard.press("End");
  assert.equal(await focused(), "From the clipboard");
  await page.keyboard.press("Escape");
  assert.equal(await focused(), "More ways to add files");
  await page.keyboard.press("Enter");
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    page.getByRole("menuitem", { name: "A folder" }).click(),
  ]);
  assert.notEqual(await chooser.element().getAttribute("webkitdirectory"), null);
});

shows(
  "button-undo",
  "sends nothing that was taken back in time",
  async ({ page, site, choose, button, isStored }) => {
    await choose(png("wrong.png"));
    await button("Undo").click();
    await page.clock.fastForward(10_000);
    await choose(png("right.png"));
    await page.clock.fastForward(10_000);
    await isStored("right.png");
    assert.deepEqual(site.completed, ["right.png"]);
  },
  { clock: "stopped" },
);
