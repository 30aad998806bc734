import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { IMAGE_QUALITIES, IMAGE_WIDTHS } from "@upstow/contract";
import sharp from "sharp";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { uploadFile } from "../../server/test/support/upload.ts";
import { until } from "../../server/test/support/webhooks/until.ts";
import { defaultQualities, defaultQuality, defaultWidths } from "../src/image/image-url.ts";
import nextLoader from "../src/image/next-image.ts";
import setUpProvider, { getImage } from "../src/image/nuxt-image.ts";
import { transform } from "../src/image/unpic.ts";
import { imageProps, thumbHashToDataUrl, upstowLoader, variantUrl } from "../src/index.ts";
import type { FileObject } from "../src/wire/index.ts";

const decodePng = async (dataUrl: string | null) => {
  const [, base64 = ""] = /^data:image\/png;base64,(.+)$/.exec(dataUrl ?? "") ?? [];
  return sharp(Buffer.from(base64, "base64")).raw().toBuffer({ resolveWithObject: true });
};

describe("URLs and attributes of images", () => {
  let app: TestApp;
  let file: FileObject;
  before(async () => {
    app = await startApp();
    const photo = await sharp({ create: { width: 900, height: 600, channels: 3, background: "#336699" } })
      .jpeg()
      .toBuffer();
    const { live } = await app.createTenant("free");
    const { key } = await uploadFile(app, photo, { key: live, name: "a b?.jpg", type: "image/jpeg" });
    file = await until(async () => {
      const found = (await app.call("GET", `files/${encodeURIComponent(key)}`, { key: live })).body.file;
      return found.image && found;
    });
  });
  after(() => app.close());

  it("have the defaults of projects", () => {
    assert.deepEqual(defaultWidths, IMAGE_WIDTHS);
    assert.deepEqual(defaultQualities, IMAGE_QUALITIES);
    assert.equal(defaultQuality, defaultQualities[0]);
    assert.equal(nextLoader, upstowLoader);
  });

  it("are served as they stand: every width of srcset and the loader's", async () => {
    const props = imageProps(file, { sizes: "(max-width: 40em) 100vw, 50vw" });
    const sources = (props.srcSet ?? "").split(", ").map((source) => source.split(" "));
    assert.deepEqual(
      sources.map(([, width]) => width),
      ["16w", "32w", "48w", "64w", "96w", "128w", "256w", "384w", "640w", "750w", "828w", "1080w"],
    );
    assert.equal(props.src, sources.at(-1)?.[0]);
    assert.equal(props.sizes, "(max-width: 40em) 100vw, 50vw");
    assert.deepEqual([props.width, props.height], [900, 600]);
    for (const url of [sources[0]?.[0], props.src, upstowLoader({ src: file.url, width: 640 })]) {
      const response = await fetch(url ?? "", { headers: { accept: "image/webp" } });
      assert.deepEqual([response.status, response.headers.get("content-type")], [200, "image/webp"]);
      await response.bytes();
    }
  });

  it("fit the layout: a fixed width, a cut, a preset", async () => {
    const fixed = imageProps(file, { width: 300 });
    assert.deepEqual([fixed.width, fixed.height, fixed.sizes], [300, 200, "300px"]);
    assert.match(fixed.srcSet ?? "", /w_384,.* 384w, .*w_640,.* 640w, .*750w, .*828w, .*1080w$/);
    const cut = imageProps(file, { width: 100, height: 200, fit: "cover", gravity: "focus", quality: 85 });
    assert.deepEqual([cut.width, cut.height], [100, 200]);
    assert.match(cut.src, /\/i\/w_384,h_768,fit_cover,q_85,f_auto,g_focus\//);
    const response = await fetch(cut.src);
    const { width, height } = await sharp(await response.bytes()).metadata();
    assert.deepEqual([width, height], [384, 768]);
    const preset = imageProps(file, { preset: "avatar", width: 96, height: 96, fit: "cover" });
    assert.match(preset.src, /\/i\/avatar\//);
    assert.deepEqual([preset.width, preset.height, preset.srcSet], [96, 96, undefined]);
    assert.deepEqual([imageProps({ url: file.url }).width], [undefined]);
    const tall = imageProps(file, { rotate: 90 });
    assert.deepEqual([tall.width, tall.height], [600, 900]);
  });

  const recipeOf = (url: string) => new URL(url).pathname.split("/")[2];
  const statusOf = async (url: string) => {
    const response = await fetch(url);
    await response.bytes();
    return response.status;
  };

  it("are those that the project lists, whatever unpic asks for", async () => {
    for (const [operations, recipe] of [
      [{ width: 700 }, "w_750,fit_scale-down,q_75,f_auto"],
      [{ width: "700", quality: "83", format: "jpg" }, "w_750,fit_scale-down,q_85,f_jpeg"],
      [{ width: 300, height: 200 }, "w_384,h_256,fit_cover,q_75,f_auto"],
      [{ height: 60 }, "h_64,fit_scale-down,q_75,f_auto"],
      [{ width: 0.2, height: "auto", format: "gif" }, "w_3840,fit_scale-down,q_75,f_auto"],
    ] as const) {
      const url = transform(file.url, operations);
      assert.equal(recipeOf(url), recipe);
      assert.equal(await statusOf(url), 200, recipe);
    }
    const largest = transform(file.url, { width: 9000, height: 18_000, quality: 1 });
    assert.equal(recipeOf(largest), "w_3840,h_4096,fit_cover,q_75,f_auto");
    const lists = { widths: [300, 100], qualities: [50] };
    assert.equal(
      recipeOf(transform(new URL(file.url), { width: 101 }, lists)),
      "w_300,fit_scale-down,q_50,f_auto",
    );
    assert.equal(transform("/local.png", { width: 16 }), "/local.png");
  });

  it("are those that the project lists, whatever nuxt/image asks for", async () => {
    const modifiers = {
      width: 320,
      height: 320,
      fit: "contain",
      background: "#A0B0C0",
      rotate: 90,
      blur: 300,
    };
    const recipe = "w_384,h_384,fit_pad,q_75,f_auto,bg_a0b0c0,blur_100,rot_90";
    const { url } = setUpProvider().getImage(file.url, { modifiers });
    assert.equal(recipeOf(url), recipe);
    assert.equal(await statusOf(url), 200);
    const [base = "", key] = file.url.split("/f/");
    for (const baseURL of [`${base}/f`, `${base}/f/`])
      assert.equal(getImage(`/${key}`, { modifiers, baseURL }).url, url);
    assert.equal(getImage("/local.png", { modifiers }).url, "/local.png");
    for (const [fit, ours] of [
      ["inside", "scale-down"],
      ["fill", "cover"],
      ["outside", "cover"],
      [undefined, "cover"],
    ])
      assert.match(
        getImage(file.url, { modifiers: { width: 64, height: 64, fit } }).url,
        new RegExp(`,fit_${ours},`),
      );
  });

  it("leave other addresses alone", () => {
    for (const url of ["/local.png", "https://example.com/f/short/a.png", "data:image/png;base64,AA"]) {
      assert.equal(variantUrl(url, { width: 16 }), null);
      assert.equal(imageProps({ url }).src, url);
      assert.equal(upstowLoader({ src: url, width: 16 }), url);
    }
  });

  it("come with a placeholder in the colours of the image", async () => {
    const { backgroundImage = "", backgroundColor } = imageProps(file).style;
    assert.equal(backgroundColor, file.image?.dominantColor);
    const { data, info } = await decodePng(backgroundImage.slice("url(".length, -1));
    assert.deepEqual([info.width, info.height, info.channels], [32, 23, 4]);
    for (const [index, value] of [0x33, 0x66, 0x99].entries())
      assert.ok(Math.abs((data[index] ?? 0) - value) < 12, `${[...data.subarray(0, 4)]}`);
  });
});

describe("placeholders", () => {
  it("can be drawn for every image, with and without transparency", async () => {
    const hashes: string[] = JSON.parse(
      readFileSync(
        new URL("../../server/test/support/render/thumbhash-reference.json", import.meta.url),
        "utf8",
      ),
    );
    for (const hash of hashes.slice(0, 60)) {
      const { info } = await decodePng(thumbHashToDataUrl(hash));
      assert.ok(info.width >= 1 && info.width <= 64 && info.height >= 1 && info.height <= 64, hash);
    }
    for (const hash of ["", "AAAA", "not base64!"]) assert.equal(thumbHashToDataUrl(hash), null);
  });
});
