import assert from "node:assert/strict";
import { after, before } from "node:test";
import { findBarriers } from "../../../../test/support/axe.ts";
import { type Source, serve, startSource } from "../../../server/test/support/imports/source.ts";
import { behaviours } from "../support/behaviour.ts";
import { expectSoon } from "../support/expect-soon.ts";

const shows = behaviours([], { env: { UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8" } });

let source: Source;
before(async () => {
  source = await startSource();
  source.paths.set("/notes.txt", serve(Buffer.from("hello"), "text/plain"));
  source.paths.set("/slow.bin", (_request, response) => {
    response.writeHead(200, { "content-length": 2_000_000 });
    response.write(Buffer.alloc(1_000_000));
  });
});
after(() => source.close());

shows(
  "upload-from-url",
  "has the service fetch a URL, and says why it could not",
  async ({ page, site, button, says, isStored, logged }) => {
    const field = page.getByLabel("File URL");
    await field.fill(`${source.url}/notes.txt`);
    await field.press("Enter");
    await isStored("notes.txt");
    await says(/^notes\.txt uploaded\.$/);
    assert.equal(await field.inputValue(), "");
    await expectSoon(async () => logged.join(), /notes\.txt/);

    await field.fill(`${source.url}/missing.txt`);
    await button("Fetch").click();
    await says(/status 404/);
    assert.equal(await field.inputValue(), `${source.url}/missing.txt`);
    await field.fill("https://10.0.0.1/x");
    await button("Fetch").click();
    await says(/not public/);
    assert.deepEqual(site.completed, ["notes.txt"]);
    assert.deepEqual(await findBarriers(page), []);
  },
);

shows(
  "upload-from-url",
  "shows how far it is, and stops when asked to",
  async ({ page, site, button, says }) => {
    await page.getByLabel("File URL").fill(`${source.url}/slow.bin`);
    await button("Fetch").click();
    await expectSoon(async () => String(await page.getByRole("progressbar").getAttribute("value")), /^0/);
    await button("Cancel").click();
    await says(/^$/);
    const { app, apiKey } = site.service;
    const open = async () =>
      (await app.call("GET", "files?status=UPLOADING", { key: apiKey })).body.files.length;
    await expectSoon(async () => String(await open()), /^0$/);
  },
);
