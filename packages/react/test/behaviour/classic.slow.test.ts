import assert from "node:assert/strict";
import { behaviours } from "../support/behaviour.ts";
import { expectSoon } from "../support/expect-soon.ts";
import { png, text } from "../support/files.ts";

const shows = behaviours();

shows("upload-button", "says on itself how far it is", async ({ site, choose, page }) => {
  site.storage.allow(0);
  await choose(png("a.png", 6_000_000));
  await page.getByRole("button", { name: /^Uploading [1-9]\d?%$/ }).waitFor();
});

shows("upload-dropzone", "opens the chooser wherever it is clicked, but not in its list", async (stage) => {
  const { page, choose, isStored } = stage;
  const area = page.locator(".us-dropzone-area");
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    area.click({ position: { x: 12, y: 12 } }),
  ]);
  assert.equal(chooser.isMultiple(), true);
  await choose(png("a.png"));
  await isStored("a.png");
  let isOpened = false;
  page.on("filechooser", () => {
    isOpened = true;
  });
  await page.locator(".us-row").click({ position: { x: 80, y: 20 } });
  await stage.button("Remove a.png").click();
  await page.locator(".us-row").waitFor({ state: "detached" });
  assert.equal(isOpened, false);
});

shows("upload-dropzone", "keeps the focus where a key has changed or removed a button", async (stage) => {
  const { page, site, choose, button, says } = stage;
  const focused = () =>
    page.evaluate("document.activeElement.ariaLabel || document.activeElement.innerText") as Promise<string>;
  const press = async (name: string) => {
    await button(name).focus();
    await page.keyboard.press("Enter");
  };
  site.storage.allow(0);
  await choose(png("a.png", 6_000_000), png("b.png", 6_000_000));
  await press("Pause a.png");
  await expectSoon(focused, /^Resume a\.png$/);
  await press("Cancel a.png");
  await expectSoon(focused, /^Remove a\.png$/);
  site.storage.allow(Number.POSITIVE_INFINITY);
  await press("Retry a.png");
  await says(/^All done/);
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Remove a.png", "still in the row");
  await page.keyboard.press("Enter");
  await expectSoon(focused, /^Remove b\.png$/);
  await page.keyboard.press("Enter");
  await expectSoon(focused, /^Choose files$/);
});

shows("upload-dropzone", "cuts no letter of a name in half", async ({ page, choose }) => {
  // A face, a family of four joined together, and an accent that is a sign of its own.
  const names = [
    "day\u{1f600}1234.txt",
    "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}1234.txt",
    "cafe\u03011234.txt",
  ];
  await choose(...names.map((name) => text(name)));
  await page.locator(".us-name").nth(2).waitFor();
  assert.deepEqual(await page.locator(".us-name > :last-child").allTextContents(), [
    "\u{1f600}1234.txt",
    "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}1234.txt",
    "e\u03011234.txt",
  ]);
  assert.deepEqual(await page.locator(".us-name").allTextContents(), names);
});

shows("failing-callbacks", "are seen, and change nothing about an upload", async (stage) => {
  const { page, site, choose, button, logged, isStored } = stage;
  await page.evaluate(`addEventListener("error", (event) => {
    event.preventDefault();
    console.log(event.message);
  })`);
  const mistakes = (count: number) =>
    expectSoon(
      async () => logged.join(),
      new RegExp(`^${Array(count).fill("Uncaught Error: The callback's own mistake\\.")}$`),
    );
  await choose(png("a.png"));
  await isStored("a.png");
  await page.locator(".us-row[data-status=done]").waitFor();
  await mistakes(3);
  site.refuseOnce.add("b.png");
  await choose(png("b.png"));
  await page.getByText("Not today.", { exact: true }).waitFor();
  await mistakes(5);
  await button("Retry b.png").click();
  await isStored("b.png");
  await mistakes(7);
});

shows("upload-modal", "goes on when it is closed, and gives the focus back", async (stage) => {
  const { page, site, button, choose, isStored } = stage;
  const trigger = page.getByRole("button", { name: /^Add photos/ });
  await trigger.click();
  site.storage.allow(0);
  await choose(png("a.png", 6_000_000));
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await page.getByRole("button", { name: /^Add photos \d+%$/ }).waitFor();
  assert.equal(await page.evaluate("document.activeElement.textContent.startsWith('Add photos')"), true);
  site.storage.allow(Number.POSITIVE_INFINITY);
  await isStored("a.png");
  await button("Add photos").waitFor();
});

shows("file-list", "pauses, resumes and clears many files at once", async (stage) => {
  const { page, site, button, choose, says } = stage;
  site.storage.allow(0);
  await choose(...Array.from({ length: 24 }, (_, i) => text(`${i}.txt`)));
  const rows = page.locator(".us-row");
  await button("Pause all").click();
  await expectSoon(async () => String(await page.locator(".us-row[data-status=paused]").count()), /^24$/);
  site.storage.allow(Number.POSITIVE_INFINITY);
  await button("Resume all").click();
  await says(/All done: 24 files uploaded\./);
  assert.equal(new Set(site.completed).size, 24);
  const focused = () => page.evaluate("document.activeElement.ariaLabel") as Promise<string>;
  await button("Remove 23.txt").focus();
  await page.keyboard.press("Enter");
  await expectSoon(focused, /^Remove 22\.txt$/);
  await button("Clear finished").focus();
  await page.keyboard.press("Enter");
  await rows.first().waitFor({ state: "detached" });
  assert.equal(await focused(), "Files", "still in the component");
  await page.getByText("Nothing here yet.").waitFor();
});

shows("file-preview", "shows the first lines of a text and turns with the arrow keys", async (stage) => {
  const { page, choose, button } = stage;
  await choose(png("picture.png"), text("poem.txt", "So much depends\nupon\n"));
  await page.getByText("So much depends").waitFor();
  await button("Next").focus();
  await page.keyboard.press("ArrowRight");
  await page.getByRole("img", { name: "picture.png" }).waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.getByText("So much depends").waitFor();
});

shows("upload-field", "keeps a form until its file is there, and sends the file's id", async (stage) => {
  const { page, site, choose, button, isStored } = stage;
  const isValid = () => page.evaluate("document.forms[0].checkValidity()");
  assert.equal(await isValid(), false, "nothing chosen");
  site.storage.allow(0);
  await choose(png("cv.png"));
  await page.getByRole("progressbar").waitFor();
  assert.equal(await isValid(), false, "not there yet");
  site.storage.allow(Number.POSITIVE_INFINITY);
  await isStored("cv.png");
  await page.locator("input[name=documents]").waitFor({ state: "attached" });
  const id = await page.locator("input[name=documents]").inputValue();
  assert.match(id, /^\w{10,}$/);
  await button("Send").click();
  await page.waitForURL(`**/apply?documents=${id}`);
});

shows("staged-field", "keeps a form while files wait for their start", async (stage) => {
  const { page, choose, button, isStored } = stage;
  const isValid = () => page.evaluate("document.forms[0].checkValidity()");
  assert.equal(await isValid(), true, "nothing chosen, and nothing required");
  await choose(text("a.txt"));
  await page.getByText("Ready").waitFor();
  assert.equal(await isValid(), false, "not sent yet");
  await button("Upload").click();
  await isStored("a.txt");
  await page.locator("input[name=documents]").waitFor({ state: "attached" });
  assert.equal(await isValid(), true);
});

shows("avatar-upload", "sends no file that breaks a rule, and says why", async (stage) => {
  const { page, site, drop, says } = stage;
  const before = site.storage.puts.length;
  await drop(text("notes.txt"));
  await says(/notes\.txt failed: notes\.txt is not of an accepted type\./);
  await page.getByText("notes.txt is not of an accepted type.", { exact: true }).waitFor();
  assert.equal(site.storage.puts.length, before);
});

// What a server draws in another language than the browser's is drawn anew as a whole, with a complaint.
shows(
  "browsers-locale",
  "writes numbers in the way of the browser, after a server that did not know it",
  async ({ page }) => {
    await page.getByText("Up to 1,5 MB each").waitFor();
    await page.getByText("0 Byte", { exact: false }).waitFor();
  },
  { locale: "de-DE" },
);

shows(
  "own-words",
  "says of all files what it was given to say",
  async ({ site, button, choose, isStored }) => {
    site.storage.allow(0);
    await choose(text("a.txt"));
    await button("Alle anhalten").click();
    site.storage.allow(Number.POSITIVE_INFINITY);
    await button("Alle fortsetzen").click();
    await isStored("a.txt");
  },
);
