import { crc32, deflateSync } from "node:zlib";
import sharp from "sharp";

// Images for the tests, all made on the spot: honest ones with sharp, dishonest ones byte by byte.

export const palette = {
  red: [230, 20, 20],
  green: [20, 180, 40],
  blue: [20, 40, 220],
  yellow: [240, 220, 30],
} as const;
export type Rgb = readonly [number, number, number];

export function solid(width: number, height: number, [r, g, b]: Rgb, alpha = 1) {
  const channels = alpha === 1 ? 3 : 4;
  return sharp({ create: { width, height, channels, background: { r, g, b, alpha } } });
}

/** Four quadrants: red and green above, blue and yellow below. `place` says where each pixel is stored. */
export function quadrants(
  width: number,
  height: number,
  place: { width: number; height: number; at: (x: number, y: number) => [number, number] } = {
    width,
    height,
    at: (x, y) => [x, y],
  },
) {
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [storedX, storedY] = place.at(x, y);
      pixels.set(quadrantColour(x < width / 2, y < height / 2), (storedY * place.width + storedX) * 3);
    }
  }
  return sharp(pixels, { raw: { width: place.width, height: place.height, channels: 3 } });
}

function quadrantColour(isLeft: boolean, isTop: boolean): Rgb {
  if (isTop) return isLeft ? palette.red : palette.green;
  return isLeft ? palette.blue : palette.yellow;
}

export function noise(width: number, height: number, seed: number) {
  const random = createRandom(seed);
  const pixels = Buffer.from(Uint8Array.from({ length: width * height * 3 }, () => random(256)));
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}

/** A small repeatable generator: whole numbers from 0 up to, but not including, the bound. */
export function createRandom(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

export async function animation(width: number, height: number, colours: Rgb[]) {
  const frames = await Promise.all(colours.map((colour) => solid(width, height, colour).png().toBuffer()));
  return sharp(frames, { join: { animated: true } });
}

/** A PNG whose header may say anything about its pixels, with checksums that hold. */
export function craftPng(
  width: number,
  height: number,
  pixels: Buffer,
  bitDepth = 8,
  colourType = 0,
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([bitDepth, colourType], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngChunk("IHDR", header),
    pngChunk("IDAT", deflateSync(pixels)),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

/** A GIF of a few bytes that unfolds into `frames` full screens. */
export function craftGif(width: number, height: number, frames: number): Buffer {
  const screen = Buffer.alloc(13);
  screen.write("GIF89a", "latin1");
  screen.writeUInt16LE(width, 6);
  screen.writeUInt16LE(height, 8);
  screen[10] = 0x80;
  const colours = Buffer.from([0, 0, 0, 255, 255, 255]);
  const frame = Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]);
  return Buffer.concat([screen, colours, ...Array<Buffer>(frames).fill(frame), Buffer.from([0x3b])]);
}

export function isobmffHead(majorBrand: string, ...compatibleBrands: string[]): Buffer {
  const brands = Buffer.from(`ftyp${majorBrand}\0\0\0\0${compatibleBrands.join("")}`, "latin1");
  const size = Buffer.alloc(4);
  size.writeUInt32BE(brands.length + 4);
  return Buffer.concat([size, brands]);
}
