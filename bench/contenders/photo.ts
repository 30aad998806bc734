import { createRequire } from "node:module";
import type sharpModule from "sharp";

// The server's own copy: what is compared with may bring another.
const require = createRequire(new URL("../../packages/server/package.json", import.meta.url));
export const sharp = require("sharp") as typeof sharpModule;

/** From large shapes down to grain, with how strong each is. */
const octaves = [
  { cells: 4, share: 1 },
  { cells: 16, share: 0.5 },
  { cells: 64, share: 0.25 },
  { cells: 256, share: 0.12 },
  { cells: 1000, share: 0.06 },
];

/** A picture of 12 megapixels with as much detail as a photograph; the same every time. */
export async function createPhoto(): Promise<Buffer> {
  const [width, height] = [4000, 3000];
  const layers = await Promise.all(
    octaves.map(({ cells }, seed) =>
      sharp(grain(cells, seed + 1), { raw: { width: cells, height: cells, channels: 3 } })
        .resize(width, height, { fit: "fill", kernel: "cubic" })
        .raw()
        .toBuffer(),
    ),
  );
  const pixels = Buffer.alloc(width * height * 3);
  const whole = octaves.reduce((sum, { share }) => sum + share, 0);
  for (let at = 0; at < pixels.length; at++) {
    let value = 0;
    for (const [i, layer] of layers.entries()) value += (layer[at] ?? 0) * (octaves[i]?.share ?? 0);
    pixels[at] = Math.max(0, Math.min(255, (value / whole - 128) * 2 + 128));
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 90 })
    .toBuffer();
}

/** A copy that takes little time to render, yet is large enough to lie in a file of its own. */
export function shrinkPhoto(photo: Buffer): Promise<Buffer> {
  return sharp(photo).resize(700).jpeg({ quality: 90 }).toBuffer();
}

function grain(cells: number, seed: number): Buffer {
  let state = seed;
  return Buffer.from(
    Uint8Array.from({ length: cells * cells * 3 }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    }),
  );
}
