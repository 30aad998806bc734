import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createUpstow } from "@upstow/sdk";
import { findBarriers } from "../../../../test/support/axe.ts";
import { getBrowser } from "../../../server/test/support/shared-browser.ts";
import { until } from "../../../server/test/support/webhooks/until.ts";
import { expectSoon } from "../support/expect-soon.ts";
import { picture, png } from "../support/files.ts";
import { openExample } from "../support/open-example.ts";
import { startSite, type TestSite } from "../support/start-site.ts";

/** Photo of a coast, as the API knows it. */
const facts = {
  width: 1200,
  height: 800,
  orientation: 1,
  frames: 1,
  hasAlpha: false,
  dominantColor: "#7a8c5d",
  thumbhash: "1QcSHQRnh493V4dIh4eXh1h4kJUI",
};

describe("images of stored files", () => {
  let site: TestSite;
  before(async () => {
    site = await startSite();
  });
  after(() => site.stop());

  it("shows the catalogue's example, with its space and placeholder, and without barriers", async () => {
    const { page, close } = await openExample(await getBrowser(), site, "upstow-image");
    await expectSoon(() => page.evaluate("String(document.images[0].naturalWidth)"), /^60$/);
    const seen = await page.evaluate(`(() => {
      const [image] = document.images;
      const { backgroundImage, backgroundColor } = image.style;
      const [width, height, loading, alt] = ["width", "height", "loading", "alt"].map((name) => image.getAttribute(name));
      return { width, height, loading, alt, backgroundColor, isPainted: backgroundImage.startsWith('url("data:image/png;') };
    })()`);
    assert.deepEqual(seen, {
      width: "4032",
      height: "3024",
      loading: "lazy",
      alt: "The beach at dusk",
      backgroundColor: "rgb(122, 140, 93)",
      isPainted: true,
    });
    assert.deepEqual(await findBarriers(page), []);
    await close();
  });

  it("takes its place before it has loaded, and then the smallest file that is sharp", async () => {
    const { app, apiKey } = site.service;
    const upstow = createUpstow({ apiKey, baseUrl: app.url });
    const photo = new File([new Uint8Array(picture(0, 1200, 800))], "a photo.png", { type: "image/png" });
    const { key } = await upstow.upload(photo);
    const file = await until(async () => {
      const found = await upstow.files.get(key);
      return found.image && found;
    });
    const { page, close } = await openExample(await getBrowser(), site, "image-from-page", {
      viewport: { width: 500, height: 400 },
    });
    // Held back until the page was looked at.
    const held = Promise.withResolvers<void>();
    const asked: string[] = [];
    await page.route(/\/i\/w_/, async (route) => {
      asked.push(new URL(route.request().url()).pathname.split("/")[2] ?? "");
      await held.promise;
      await route.continue();
    });
    const { image } = file;
    // Past the test's line to the storage, which pages read nothing through.
    const url = file.url.replace(new URL(file.url).origin, app.url);
    await page.evaluate(`globalThis.showImage(${JSON.stringify({ url, image })})`);
    const box = () => page.evaluate("JSON.stringify(document.images[0].getBoundingClientRect())");
    await expectSoon(async () => String(asked.length), /^1$/);
    const before = await box();
    assert.equal(JSON.parse(String(before)).width > 0 && JSON.parse(String(before)).height > 0, true);
    held.resolve();
    await expectSoon(() => page.evaluate("String(document.images[0].complete)"), /^true$/);
    assert.equal(await box(), before);
    assert.deepEqual(asked, ["w_384,fit_scale-down,q_75,f_auto"]);
    await close();
  });

  it("shows an avatar as a thumbnail, and keeps the space of a private image, both with placeholders", async () => {
    const { app, apiKey } = site.service;
    const upstow = createUpstow({ apiKey, baseUrl: app.url });
    const { url } = await upstow.upload(
      new File([new Uint8Array(picture(0, 1200, 800))], "a photo.png", { type: "image/png" }),
    );
    const asked = Promise.withResolvers<null>();
    site.reading.before = () => asked.promise;
    const { page, close } = await openExample(await getBrowser(), site, "known-images");
    const paths: string[] = [];
    page.on("request", (request) => paths.push(new URL(request.url()).pathname));
    await page.evaluate(`globalThis.showImage(${JSON.stringify({ url, image: facts })})`);
    const see = () =>
      page.evaluate(`[...document.images].map((image) => {
        const { width, height } = image.getBoundingClientRect();
        const isPainted = image.style.backgroundImage.startsWith('url("data:image/png;');
        return [image.alt, width, height, isPainted].join(" ");
      }).join(", ")`) as Promise<string>;
    await expectSoon(see, /^Ann 128 128 true, Known 300 200 true$/);
    await page.evaluate("document.images[1].parentElement.style.inlineSize = '150px'");
    await expectSoon(see, /, Known 150 100 true$/);
    await expectSoon(() => page.evaluate("String(document.images[0].naturalWidth)"), /^128$/);
    assert.deepEqual(
      paths.filter((path) => /^\/[if]\//.test(path)).map((path) => path.split("/")[2]),
      ["w_128,h_128,fit_cover,q_75,f_auto"],
    );
    asked.resolve(null);
    site.reading.before = async () => null;
    await close();
  });

  it("shows the service's thumbnail of an upload that the browser cannot show", async () => {
    const { page, choose, close } = await openExample(await getBrowser(), site, "own-list");
    await page.evaluate("URL.createObjectURL = () => 'data:image/heic,'");
    await choose(png("photo.png"), { ...png("broken.png"), buffer: Buffer.from("no picture") });
    const see = () =>
      page.evaluate(`[...document.querySelectorAll(".us-thumb")]
        .map((thumb) => thumb.naturalWidth ? new URL(thumb.src).pathname.split("/")[2] : thumb.textContent).join(" ")`);
    await expectSoon(async () => String(await see()), /^w_384,fit_scale-down,q_75,f_auto png$/);
    await close();
  });
});
