import assert from "node:assert/strict";
import { behaviours, type Stage } from "../support/behaviour.ts";
import { expectSoon } from "../support/expect-soon.ts";
import { picture, png } from "../support/files.ts";

// A camera that shows a moving test picture and needs no permission, and a clipboard that the page may use.
const shows = behaviours(["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]);
const clipboard = { permissions: ["clipboard-read", "clipboard-write"] };

/** Keeps what the page gets from the camera where the test can look at it. */
const watchCamera = `(() => {
  const devices = navigator.mediaDevices;
  const ask = devices.getUserMedia.bind(devices);
  devices.getUserMedia = async (wanted) => (globalThis.seen = await ask(wanted));
})()`;

/** Says when the page has read the clipboard and drawn what came of it. */
const watchClipboard = `(() => {
  const read = navigator.clipboard.read.bind(navigator.clipboard);
  navigator.clipboard.read = async () => {
    const items = await read();
    setTimeout(() => requestAnimationFrame(() => (globalThis.isRead = true)), 50);
    return items;
  };
})()`;

const copyPicture = (page: Stage["page"]) =>
  page.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob("${picture(0).toString("base64")}"), (letter) => letter.charCodeAt(0));
    const blob = new Blob([bytes], { type: "image/png" });
    await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
  })()`);

shows(
  "source-tabs",
  "takes photos with the camera, and switches it off when it is left",
  async ({ page, site, button }) => {
    await page.evaluate(watchCamera);
    await page.getByRole("tab", { name: "Camera" }).click();
    const width = () => page.evaluate("document.querySelector('video').videoWidth") as Promise<number>;
    await expectSoon(async () => String((await width()) > 0), /true/);
    await button("Take a photo").click();
    await expectSoon(async () => site.completed.join(), /^photo-\d+\.jpg$/);
    const photoWidth = () => page.evaluate("document.querySelector('.us-row img').naturalWidth");
    await expectSoon(async () => String(await photoWidth()), new RegExp(`^${await width()}$`));
    await page.getByRole("tab", { name: "Link" }).click();
    await expectSoon(
      () => page.evaluate("globalThis.seen.getTracks().map((track) => track.readyState).join()"),
      /^ended$/,
    );
  },
);

shows(
  "source-tabs",
  "takes a picture from the clipboard, and says when there is none",
  async ({ page, button, isStored }) => {
    await page.getByRole("tab", { name: "Clipboard" }).click();
    await page.evaluate("navigator.clipboard.writeText('only words')");
    await button("Paste").click();
    await page.getByText("There is no file on the clipboard.").waitFor();
    await copyPicture(page);
    await button("Paste").click();
    await isStored("pasted-1.png");
  },
  clipboard,
);

shows(
  "button-split",
  "asks the camera for photos, and takes a picture from the clipboard",
  async ({ page, button, isStored }) => {
    const choose = async (name: string) => {
      await button("More ways to add files").click();
      await page.getByRole("menuitem", { name }).click();
    };
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), choose("Take a photo")]);
    assert.equal(await chooser.element().getAttribute("capture"), "environment");
    assert.equal(await chooser.element().getAttribute("accept"), "image/*");
    await copyPicture(page);
    await choose("From the clipboard");
    await isStored("pasted-1.png");
  },
  clipboard,
);

shows(
  "split-single",
  "keeps its file when there is none on the clipboard",
  async ({ page, button, choose }) => {
    await choose(png("kept.png"));
    await button("Remove kept.png").waitFor();
    await page.evaluate("navigator.clipboard.writeText('only words')");
    await page.evaluate(watchClipboard);
    await button("More ways to add files").click();
    await page.getByRole("menuitem", { name: "From the clipboard" }).click();
    await expectSoon(async () => String(await page.evaluate("globalThis.isRead")), /true/);
    assert.equal(await button("Remove kept.png").count(), 1);
  },
  clipboard,
);
