import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { it } from "node:test";
import sharp from "sharp";
import { makeFitPictures } from "./support/fit-pictures.ts";

const docs = new URL("../../../docs/", import.meta.url);
const raw = (bytes: Buffer) =>
  sharp(bytes).flatten({ background: "#fff" }).raw().toBuffer({ resolveWithObject: true });

it("the pictures in the guide are what the service makes, and the guide shows them all", async () => {
  const guide = await readFile(new URL("guides/images.md", docs), "utf8");
  for (const [name, bytes] of await makeFitPictures()) {
    assert.ok(guide.includes(`(../images/${name})`), `${name} is not shown`);
    const [kept, made] = [await raw(await readFile(new URL(`images/${name}`, docs))), await raw(bytes)];
    assert.deepEqual([kept.info.width, kept.info.height], [made.info.width, made.info.height], name);
    const difference = made.data.reduce((sum, value, at) => sum + Math.abs(value - (kept.data[at] ?? 0)), 0);
    // Encoders of another version round otherwise; another crop or size is far beyond this.
    assert.ok(difference / made.data.length < 4, `${name}: run node scripts/fit-pictures.ts`);
  }
});
