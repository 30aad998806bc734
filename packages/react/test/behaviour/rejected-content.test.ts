import assert from "node:assert/strict";
import { behaviours } from "../support/behaviour.ts";
import { text } from "../support/files.ts";

const shows = behaviours();

shows(
  "upload-dropzone",
  "says why the content of a file is rejected, in words for whoever chose it",
  async (stage) => {
    const { page, site, choose, button, says, isStored } = stage;
    const { live: key, projectId } = site.service.app.owner;
    const call = (method: string, path: string, body?: object) =>
      site.service.app.call(method, path, { key, ...(body && { body }) });
    const { body } = await call("GET", `projects/${projectId}/routers`);
    const path = `routers/${body.routers[0].id}`;
    await call("PATCH", path, { checkContent: "enforce" });
    try {
      const html = Buffer.from("<!doctype html>");
      await choose({ name: "photo.png", mimeType: "image/png", buffer: html });
      const reason = "The file's content is text/html, not image/png.";
      await says(new RegExp(`^photo\\.png failed: ${reason}$`));
      assert.equal(await page.locator(".us-error").textContent(), reason);
      await button("Remove photo.png").click();
      await choose(text("right.txt"));
      await isStored("right.txt");
    } finally {
      await call("PATCH", path, { checkContent: "off" });
    }
  },
);
