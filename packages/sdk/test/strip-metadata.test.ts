import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { stripMetadata } from "@upstow/contract/metadata";
import { build } from "esbuild";
import sharp from "sharp";
import { stripAll, stripGps } from "../src/strip-metadata.ts";
import { MB } from "./support/start-service.ts";
import { useApplication } from "./support/uploader-bed.ts";

const secret = "Jane lives at 48.2082";

/** A picture that tells more than it shows. */
async function takePicture(name: string): Promise<File> {
  const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
  const picture = sharp({ create: { width: 60, height: 60, channels: 3, background: "#000", noise } })
    .withExif({ IFD0: { Artist: secret }, IFD3: { GPSLatitude: "48/1 12/1 30/1", GPSLatitudeRef: "N" } })
    .toFormat(name.endsWith("jpg") ? "jpeg" : name.endsWith("png") ? "png" : "webp", { quality: 100 });
  return new File([await picture.toBuffer()], name, { type: "image/jpeg", lastModified: 7 });
}

const bytesOf = async (file: Blob) => Buffer.from(await file.arrayBuffer());

describe("metadata that is taken out before sending", () => {
  const { create } = useApplication();
  let pictures: File[];
  before(async () => {
    pictures = await Promise.all(["a.jpg", "a.png", "a.webp"].map((name) => takePicture(name)));
  });

  it("is what the service takes out, and nothing else of the file changes", async () => {
    for (const picture of pictures)
      for (const [strip, choice] of [
        [stripGps, "gps"],
        [stripAll, "all"],
      ] as const) {
        const stripped = await strip(picture);
        const expected = await bytesOf(picture);
        assert.equal(stripMetadata(expected, choice), true, picture.name);
        assert.deepEqual(await bytesOf(stripped), expected);
        const { name, size, type, lastModified } = picture;
        assert.deepEqual(
          [stripped.name, stripped.size, stripped.type, stripped.lastModified],
          [name, size, type, lastModified],
        );
      }
  });

  it("is looked for in pictures only, by their bytes", async () => {
    const text = new File([secret], "a.jpg", { type: "image/jpeg" });
    assert.equal(await stripAll(text), text);
    const [picture] = pictures;
    const disguised = new File([await bytesOf(picture as File)], "a.txt", { type: "text/plain" });
    assert.equal((await bytesOf(await stripAll(disguised))).includes(secret), false);
  });

  it("never leaves the page, whole or in parts", async () => {
    // As a motion photo has its video behind the picture.
    const large = new File([...pictures.slice(0, 1), Buffer.alloc(11 * MB, secret)], "large.jpg");
    const files = [...pictures, large];
    const stored = await create({ stripMetadata: stripAll, verify: true }).upload("any", files);
    for (const [i, { url, isVerified }] of stored.entries()) {
      const file = files[i] as File;
      const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
      assert.deepEqual(bytes, await bytesOf(await stripAll(file)), file.name);
      assert.equal(bytes.includes(secret), false);
      assert.equal(isVerified, true);
    }
  });

  it("fails the upload if it cannot be taken out", async () => {
    const strip = () => Promise.reject(new Error("the file was moved"));
    await assert.rejects(create({ stripMetadata: strip }).upload("any", pictures), /the file was moved/);
  });

  it("costs only those who import it, and few bytes", async () => {
    const sizeOf = async (statement: string) => {
      const { outputFiles } = await build({
        stdin: { contents: statement, resolveDir: import.meta.dirname },
        bundle: true,
        minify: true,
        format: "esm",
        write: false,
      });
      return outputFiles[0]?.text ?? "";
    };
    const uploader = await sizeOf(`export { createUploader } from "../src/client/index.ts"`);
    assert.doesNotMatch(uploader, /ICC_PROFILE/);
    const stripping = await sizeOf(`export * from "../src/strip-metadata.ts"`);
    assert.match(stripping, /ICC_PROFILE/);
    assert.ok(stripping.length < 7 * 1024, `${stripping.length} bytes`);
  });
});
