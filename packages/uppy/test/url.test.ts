import assert from "node:assert/strict";
import { randomFillSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { inBrowser } from "../../sdk/test/support/in-browser.ts";
import { until } from "../../sdk/test/support/start-application.ts";
import { browserMissing } from "../../server/test/support/browser.ts";
import { type Source, serve, startSource } from "../../server/test/support/imports/source.ts";

const bytes = randomFillSync(Buffer.alloc(300_000));
const style = readFileSync(fileURLToPath(import.meta.resolve("@uppy/dashboard/css/style.min.css")), "utf8");

describe("Uppy's Url plugin in Chromium", { skip: browserMissing }, () => {
  let source: Source;
  const suite = inBrowser(
    {},
    {
      env: { UPSTOW_IMPORT_ALLOW_CIDRS: "127.0.0.0/8" },
      page: {
        html: `<!doctype html><title>Uppy</title><style>${style}</style>
<div id="uppy"></div><script type="module" src="/page.js"></script>`,
        entry: fileURLToPath(new URL("support/page.ts", import.meta.url)),
      },
    },
  );
  before(async () => {
    source = await startSource();
    source.paths.set("/gr%C3%BCn.bin", serve(bytes));
    source.paths.set("/endless", (_request, response) => void response.writeHead(200).write("begun"));
  });
  after(() => source.close());

  /** As a person does: "Link", the URL, "Import", "Upload". */
  async function fetchUrl(path: string, route = "fetched"): Promise<Page> {
    const page = await suite.openPage();
    await page.evaluate(`start({ route: "${route}" })`);
    await page.locator("[data-uppy-acquirer-id=Url] button").click();
    await page.locator(".uppy-Url-input").fill(`${source.url}${path}`);
    await page.locator(".uppy-Url-importButton").click();
    await page.locator(".uppy-StatusBar-actionBtn--upload").click();
    return page;
  }

  it("has the service fetch what was entered, and hands on what the backend answered", async () => {
    const page = await fetchUrl("/gr%C3%BCn.bin");
    await page.locator(".uppy-StatusBar.is-complete").waitFor();
    const [file] = await page.evaluate<{ name: string; url: string; result: object }[]>("succeeded");
    assert.deepEqual([file?.name, file?.result], ["grün.bin", { fetched: "grün.bin" }]);
    await suite.assertStored(file?.url, bytes);
    assert.equal(suite.arrived().length, 0);
  });

  it("shows why a URL cannot be fetched, and where a route takes none", async () => {
    const page = await fetchUrl("/missing");
    await page.locator(".uppy-StatusBar-actionBtn--retry").waitFor();
    const [missing] = await page.evaluate<string[]>("failed");
    assert.match(missing ?? "", /^missing: .*404/);
    const other = await fetchUrl("/missing", "any");
    await other.locator(".uppy-StatusBar-actionBtn--retry").waitFor();
    assert.deepEqual(await other.evaluate("failed"), [
      'missing: The upload route "any" does not accept URLs.',
    ]);
  });

  it("ends the fetch of a file that is removed", async () => {
    const page = await fetchUrl("/endless");
    await until(async () => (await suite.listOpen()).length === 1);
    await page.locator(".uppy-Dashboard-Item-action--remove").click();
    await until(async () => (await suite.listOpen()).length === 0);
    assert.deepEqual(await page.evaluate("failed"), []);
  });
});
