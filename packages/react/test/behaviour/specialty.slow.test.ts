import assert from "node:assert/strict";
import { behaviours } from "../support/behaviour.ts";
import { expectSoon } from "../support/expect-soon.ts";
import { picture, png, text } from "../support/files.ts";

const shows = behaviours();

shows("avatar-upload", "sends the part that is seen, moved by the arrow keys", async (stage) => {
  const { page, choose, button, logged } = stage;
  // Red on one side, blue on the other: what is sent tells which part was seen.
  const twoHalves = picture(0, 600, 200, (x) => (x < 0.5 ? [255, 0, 0] : [0, 0, 255]));
  await choose({ name: "halves.png", mimeType: "image/png", buffer: twoHalves });
  const frame = page.getByRole("application");
  await button("Use this").waitFor();
  await frame.focus();
  for (let i = 0; i < 30; i++) await page.keyboard.press("ArrowLeft");
  await button("Use this").click();
  await expectSoon(async () => logged[0] ?? "", /^http/);
  const stored = Buffer.from(await (await fetch(logged[0] ?? "")).arrayBuffer());
  assert.deepEqual([stored.readUInt32BE(16), stored.readUInt32BE(20)], [256, 256]);
  const pixel = await page.evaluate(`(async () => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(${JSON.stringify([...stored])})]));
    const canvas = new OffscreenCanvas(256, 256);
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    return [...pen.getImageData(10, 128, 1, 1).data.slice(0, 3)];
  })()`);
  assert.deepEqual(pixel, [0, 0, 255]);
});

shows("avatar-upload", "says so of a picture that cannot be read, until there is another", async (stage) => {
  const { page, choose, button } = stage;
  const refusal = page.getByRole("alert").getByText("This image cannot be read.");
  await choose({ name: "broken.jpg", mimeType: "image/jpeg", buffer: Buffer.from("no picture") });
  await refusal.waitFor();
  await button("Change image").waitFor();
  await choose(png("fine.png"));
  await button("Back").click();
  await button("Change image").waitFor();
  assert.equal(await refusal.count(), 0);
});

shows("chat-attachments", "holds a message back until its files are there", async (stage) => {
  const { page, site, choose, logged } = stage;
  site.storage.allow(0);
  await choose(png("a.png"));
  await page.getByRole("progressbar").waitFor();
  const box = page.getByLabel("Message");
  await box.fill("Look at this");
  await box.press("Enter");
  await page.getByText("Sends when the files are uploaded.").waitFor();
  assert.deepEqual(logged, []);
  site.storage.allow(Number.POSITIVE_INFINITY);
  await expectSoon(async () => logged.join(), /^Look at this 1$/);
  assert.equal(await box.inputValue(), "");
  await page.locator(".us-chip").waitFor({ state: "detached" });
});

shows("attachment-tray", "takes no more than a mail can carry", async ({ page, site, choose, button }) => {
  site.storage.allow(0);
  const half = Buffer.alloc(15 * 1024 * 1024, 1);
  const mimeType = "application/octet-stream";
  await choose({ name: "a.bin", mimeType, buffer: half }, { name: "b.bin", mimeType, buffer: half });
  await page.getByText("b.bin exceeds the total size limit.").waitFor();
  assert.equal(await page.locator(".us-chip[data-status=rejected]").count(), 1);
  await page.getByText("15 MB / 25 MB").waitFor();
  await button("Attachments (2)").click();
  await page.locator(".us-chip").first().waitFor({ state: "hidden" });
});

shows("tray-of-pictures", "gives no room to what it refuses", async ({ page, choose, isStored }) => {
  await choose(text("notes.txt", "x".repeat(20_000)), png("a.png", 20_000));
  await page.getByText("notes.txt is not of an accepted type.", { exact: true }).waitFor();
  await page.locator(".us-chip[data-status=done]").waitFor();
  await isStored("a.png");
});

shows("notification-panel", "shows what others upload, and asks before it is left behind", async (stage) => {
  const { page, site, choose, button } = stage;
  const panel = page.getByRole("complementary", { name: "Uploads" });
  site.storage.allow(0);
  await choose(png("a.png", 6_000_000));
  await panel.getByTitle("a.png").waitFor();
  await button("Fold").click();
  await panel.getByTitle("a.png").waitFor({ state: "hidden" });
  const [question] = await Promise.all([
    page.waitForEvent("dialog"),
    page.evaluate("void setTimeout(() => location.reload())"),
  ]);
  assert.equal(question.type(), "beforeunload");
  await question.dismiss();
});

shows("notification-panel", "says all done only when everything is", async (stage) => {
  const { page, site, choose } = stage;
  const panel = page.getByRole("complementary", { name: "Uploads" });
  const act = (name: string) => panel.getByRole("button", { name, exact: true }).click();
  const tells = async (words: string) => {
    const told = () => panel.locator("[role=status], .us-title").allTextContents();
    await expectSoon(async () => (await told()).join(), new RegExp(`^${words},${words}$`));
  };
  site.refuseOnce.add("a.png");
  await choose(png("a.png"));
  await tells("Failed 1");
  site.storage.allow(0);
  await act("Retry a.png");
  await tells("Uploading 1");
  await act("Pause a.png");
  await tells("Paused 1");
  await act("Cancel a.png");
  await tells("Cancelled 1");
  site.storage.allow(Number.POSITIVE_INFINITY);
  await choose(png("b.png"));
  await tells("Uploaded 1");
  await act("Retry a.png");
  await tells("All done: 2 files uploaded\\.");
  await panel.getByRole("button", { name: "Close" }).focus();
  await page.keyboard.press("Enter");
  await panel.getByTitle("a.png").waitFor({ state: "detached" });
  assert.equal(await page.evaluate("document.activeElement.ariaLabel"), "Uploads", "still in the panel");
});

shows("providers-uploader", "is the one whose uploads are shown", async ({ button, isStored, says }) => {
  await button("Add").click();
  await isStored("own.txt");
  await says(/^All done: 1 file uploaded\.$/);
});

shows("source-tabs", "walks its tabs with the arrow keys and takes a file from a link", async (stage) => {
  const { page, site, isStored, button } = stage;
  await page.getByRole("tab", { name: "Device" }).focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("End");
  await page.getByRole("tab", { name: "Link", selected: true }).waitFor();
  const address = page.getByLabel("File URL");
  await address.fill(`${site.url}/missing`);
  await page.route("**/missing", (route) => route.fulfill({ status: 404 }));
  await button("Fetch").click();
  await page.getByText("No file could be loaded from this URL.").waitFor();
  await address.fill(`${site.url}/100%.png`);
  await button("Fetch").click();
  await isStored("100%.png");
});

shows("inside-form", "fetches and takes commands, and leaves the form around it alone", async (stage) => {
  const { page, site, isStored, button } = stage;
  const isValid = () => page.evaluate("document.forms[0].checkValidity()");
  assert.equal(await isValid(), true, "an empty address keeps nobody from sending the form");
  const address = page.getByLabel("File URL");
  await button("Fetch").click();
  assert.equal(await page.evaluate("document.activeElement.type"), "url", "it asks for one");
  await address.fill(`${site.url}/sample.png`);
  await button("Fetch").click();
  await isStored("sample.png");
  await expectSoon(() => address.inputValue(), /^$/);
  await address.fill(`${site.url}/sample.png?again`);
  await address.press("Enter");
  await expectSoon(async () => site.completed.join(), /^sample\.png,sample\.png$/);
  const commands = page.getByLabel("upload $");
  await commands.fill("ls");
  await commands.press("Enter");
  await expectSoon(() => page.getByRole("log").textContent(), /^0 files/);
  assert.equal(new URL(page.url()).pathname, "/");
});

shows("upload-wizard", "sends files under the names that were written in the review", async (stage) => {
  const { page, site, choose, button, isStored } = stage;
  const step = () => page.locator("[aria-current=step]").textContent();
  await choose(png("IMG_0001.png"), text("notes.txt"));
  await expectSoon(step, /Review/);
  await page.getByLabel("Name of IMG_0001.png").fill("harbour.png");
  await button("Upload").click();
  await isStored("harbour.png");
  await isStored("notes.txt");
  await expectSoon(step, /Done/);
  assert.equal(site.completed.includes("IMG_0001.png"), false);
  assert.equal(await page.evaluate("document.activeElement.textContent"), "Done");
});

shows("source-tabs", "says so where no camera may be used", async ({ page }) => {
  await page.getByRole("tab", { name: "Camera" }).click();
  await page.getByText("No camera is available.").waitFor();
});
