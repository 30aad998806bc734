import { crc32 } from "node:zlib";
import sharp from "sharp";
import { animation, noise, palette, quadrants, solid } from "./test-images.ts";

export type Random = (bound: number) => number;
type Mutation = (bytes: Buffer, random: Random, other: Buffer) => Buffer;

/** Small images that reach the different paths of each decoder. */
export async function createCorpus(): Promise<Buffer[]> {
  const picture = () => quadrants(96, 64);
  const film = await animation(48, 32, [palette.red, palette.green, palette.blue]);
  const withExif = picture().withExif({ IFD0: { Copyright: "someone" } });
  return Promise.all(
    [
      picture().jpeg(),
      noise(80, 60, 7).jpeg({ progressive: true }),
      withExif.clone().withMetadata({ orientation: 6 }).withIccProfile("p3").jpeg(),
      picture().toColourspace("cmyk").jpeg(),
      picture().png(),
      picture().png({ palette: true, progressive: true }),
      solid(64, 64, palette.blue, 0.5).png(),
      noise(40, 40, 9).toColourspace("rgb16").png(),
      picture().webp(),
      solid(64, 64, palette.green, 0.3).webp({ lossless: true }),
      film.clone().webp(),
      picture().gif(),
      film.clone().gif(),
      picture().avif({ effort: 0 }),
      solid(64, 64, palette.red, 0.5).avif({ effort: 0 }),
    ].map((image) => image.toBuffer()),
  );
}

/** The same kinds at 150 to 250 KB and at over 1 MiB: noise makes large files of few pixels, which are quick to decode. */
export async function createLargeCorpus(): Promise<Buffer[]> {
  return Promise.all(
    [
      noise(300, 200, 1).jpeg({ quality: 100, chromaSubsampling: "4:4:4" }),
      noise(480, 320, 2).jpeg({ quality: 100, progressive: true }),
      noise(240, 160, 3).toColourspace("cmyk").jpeg({ quality: 100 }),
      noise(900, 600, 4).jpeg({ quality: 100, chromaSubsampling: "4:4:4" }),
      noise(300, 200, 5).png(),
      noise(300, 200, 6).png({ progressive: true }),
      noise(640, 480, 7).toColourspace("rgb16").png(),
      noise(480, 320, 8).webp({ quality: 100 }),
      (await noisyFilm(160, 120, 4)).webp({ lossless: true, effort: 0 }),
      noise(720, 540, 9).webp({ lossless: true, effort: 0 }),
      noise(480, 320, 10).gif({ effort: 1 }),
      (await noisyFilm(320, 240, 12)).gif({ effort: 1 }),
      noise(300, 200, 11).avif({ quality: 100, effort: 0 }),
      noise(800, 600, 12).avif({ quality: 100, effort: 0 }),
    ].map((image) => image.toBuffer()),
  );
}

async function noisyFilm(width: number, height: number, frames: number) {
  const pictures = Array.from({ length: frames }, (_, seed) => noise(width, height, seed).png().toBuffer());
  return sharp(await Promise.all(pictures), { join: { animated: true } });
}

export function mutateImage(corpus: Buffer[], random: Random): Buffer {
  const pick = () => corpus[random(corpus.length)] ?? Buffer.alloc(0);
  let bytes = Buffer.from(pick());
  const rounds = 1 + random(2);
  for (let round = 0; round < rounds; round++) {
    const mutation = mutations[random(mutations.length)] ?? flipBits;
    bytes = Buffer.from(mutation(bytes, random, pick()));
  }
  // Half of the PNGs get valid checksums again, or no damage would ever reach the decoder behind them.
  return random(2) === 0 ? mendPngChecksums(bytes) : bytes;
}

const flipBits: Mutation = (bytes, random) => {
  for (let flips = 1 + random(4); flips > 0 && bytes.length > 0; flips--) {
    const at = random(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
  }
  return bytes;
};

const extremes = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff];
const writeExtreme: Mutation = (bytes, random) => {
  const value = extremes[random(extremes.length)] ?? 0;
  const widthBytes = value > 0xffff ? 4 : 1 + random(4);
  if (bytes.length < 8) return bytes;
  // Headers are where the lengths and counts are.
  const at = random(random(2) === 0 ? bytes.length - 4 : Math.min(128, bytes.length - 4));
  const field = (value % 2 ** (8 * widthBytes)) >>> 0;
  if (random(2) === 0) bytes.writeUIntBE(field, at, widthBytes);
  else bytes.writeUIntLE(field, at, widthBytes);
  return bytes;
};

const cutOff: Mutation = (bytes, random) => bytes.subarray(0, random(bytes.length + 1));

const removeBlock: Mutation = (bytes, random) => {
  const at = random(bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random(64))]);
};

const repeatBlock: Mutation = (bytes, random) => {
  const at = random(bytes.length + 1);
  const block = bytes.subarray(at, at + random(64));
  return Buffer.concat([
    bytes.subarray(0, at),
    ...Array<Buffer>(1 + random(20)).fill(block),
    bytes.subarray(at),
  ]);
};

const fillBlock: Mutation = (bytes, random) => {
  const at = random(bytes.length + 1);
  return bytes.fill(random(256), at, Math.min(bytes.length, at + random(64)));
};

const splice: Mutation = (bytes, random, other) =>
  Buffer.concat([bytes.subarray(0, random(bytes.length + 1)), other.subarray(random(other.length + 1))]);

const mutations = [flipBits, writeExtreme, cutOff, removeBlock, repeatBlock, fillBlock, splice];

function mendPngChecksums(bytes: Buffer): Buffer {
  for (let at = 8; at + 12 <= bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at);
    if (bytes.toString("latin1", 1, 4) !== "PNG" || end + 4 > bytes.length) break;
    bytes.writeUInt32BE(crc32(bytes.subarray(at + 4, end)), end);
    at = end + 4;
  }
  return bytes;
}
