import { crc32 } from "node:zlib";
import { maxPixels } from "../render/render-job.ts";
import { findSourceKind, findToolKind, type SourceKind, signatureBytes } from "../render/sniff-image.ts";
import type { ToolKind } from "../render/tools/recipes.ts";
import { type ByteWindow, createByteWindow, type PixelCount, type ReadBytes } from "./byte-window.ts";
import { countHeifPixels } from "./heif-pixels.ts";

const isAnimated = 0x02;
const mostChunks = 5_000;

async function countWebpPixels(window: ByteWindow, most: number): Promise<PixelCount> {
  const head = await window.get(12, 18);
  if (typeof head === "string") return "damaged";
  switch (head.toString("latin1", 0, 4)) {
    case "VP8 ":
      return readLossy(head);
    case "VP8L":
      return head[8] === 0x2f ? readLossless(head.readUInt32LE(9)) : "damaged";
    case "VP8X": {
      const pixels = (1 + head.readUIntLE(12, 3)) * (1 + head.readUIntLE(15, 3));
      const frames = (head[8] ?? 0) & isAnimated ? await countWebpFrames(window, most / pixels) : 1;
      return pixels * Math.max(1, frames);
    }
    default:
      return "damaged";
  }
}

function readLossy(head: Buffer): PixelCount {
  const isKeyFrame = ((head[8] ?? 1) & 1) === 0 && head.readUIntBE(11, 3) === 0x9d012a;
  const pixels = (head.readUInt16LE(14) & 0x3fff) * (head.readUInt16LE(16) & 0x3fff);
  return isKeyFrame && pixels > 0 ? pixels : "damaged";
}

function readLossless(bits: number): number {
  return (1 + (bits & 0x3fff)) * (1 + ((bits >>> 14) & 0x3fff));
}

/** Visible frames, up to the limit. */
async function countWebpFrames(window: ByteWindow, most: number): Promise<number> {
  let frames = 0;
  let at = 30;
  for (let chunks = 0; chunks < mostChunks && frames <= most; chunks++) {
    const chunk = window.peek(at, 8) ?? (await window.get(at, 8));
    if (typeof chunk === "string") break;
    if (chunk.toString("latin1", 0, 4) === "ANMF") frames++;
    const lengthBytes = chunk.readUInt32LE(4);
    at += 8 + lengthBytes + (lengthBytes % 2);
  }
  return frames;
}

/** Bit depths of each colour type. */
const depths: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

/** The header is always the first chunk, with a checksum. */
async function countPngPixels(window: ByteWindow): Promise<PixelCount> {
  const chunk = await window.get(8, 25);
  if (typeof chunk === "string") return "damaged";
  const [width, height] = [chunk.readUInt32BE(8), chunk.readUInt32BE(12)];
  const isSound =
    chunk.readUInt32BE(0) === 13 &&
    chunk.toString("latin1", 4, 8) === "IHDR" &&
    chunk.readUInt32BE(21) === crc32(chunk.subarray(4, 21)) &&
    (depths[chunk[17] ?? -1]?.includes(chunk[16] ?? -1) ?? false);
  return isSound && width > 0 && height > 0 ? width * height : "damaged";
}

/** Real files have a few dozen. */
const mostSegments = 2_000;

/** The frame header comes after any number of segments: EXIF, profiles, previews. */
async function countJpegPixels(window: ByteWindow): Promise<PixelCount> {
  let at = 2;
  for (let segment = 0; segment < mostSegments; segment++) {
    const head = window.peek(at, 4) ?? (await window.get(at, 4));
    if (typeof head === "string") return head === "end" ? "damaged" : head;
    if (head[0] !== 0xff) return "damaged";
    const marker = head[1] ?? 0;
    if (marker === 0xff) at++;
    else if (isFrame(marker)) return readFrame(await window.get(at + 4, 5));
    else if (!mayComeFirst(marker)) return "damaged";
    else at += 2 + head.readUInt16BE(2);
  }
  return "unknown";
}

const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
/** Tables, restart intervals, application data and comments. */
const mayComeFirst = (marker: number) =>
  [0xc4, 0xcc, 0xdb, 0xdd, 0xfe].includes(marker) || (marker >= 0xe0 && marker <= 0xef);

function readFrame(frame: Buffer | "end" | "unknown"): PixelCount {
  if (typeof frame === "string") return frame === "end" ? "damaged" : frame;
  const pixels = frame.readUInt16BE(1) * frame.readUInt16BE(3);
  return pixels === 0 ? "damaged" : pixels;
}

const extension = 0x21;
const image = 0x2c;
/** A file of only one-byte blocks must not keep us busy. */
const mostBlocks = 50_000;

/** Counts all visible frames; those further on are counted when the image is rendered. */
async function countGifPixels(window: ByteWindow, most: number): Promise<PixelCount> {
  const screen = await window.get(6, 7);
  if (typeof screen === "string") return "damaged";
  const pixels = screen.readUInt16LE(0) * screen.readUInt16LE(2);
  // Decoders then use the first frame.
  if (pixels === 0) return "unknown";
  const frames = await countGifFrames(window, 13 + tableBytes(screen[4] ?? 0), most / pixels);
  return pixels * Math.max(1, frames);
}

async function countGifFrames(window: ByteWindow, start: number, most: number): Promise<number> {
  let frames = 0;
  let at = start;
  for (let blocks = 0; blocks < mostBlocks && frames <= most; blocks++) {
    const head = window.peek(at, 10) ?? (await window.get(at, 10));
    if (typeof head === "string") return frames;
    if (head[0] === image) {
      frames++;
      at += 11 + tableBytes(head[9] ?? 0);
    } else if (head[0] === extension) at += 2;
    else return frames;
    for (let length = -1; length !== 0 && blocks < mostBlocks; blocks++) {
      const byte = window.peek(at, 1) ?? (await window.get(at, 1));
      if (typeof byte === "string") return frames;
      length = byte[0] ?? 0;
      at += 1 + length;
    }
  }
  return frames;
}

/** The size of the colour table declared by a packed field. */
function tableBytes(packed: number): number {
  return packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0;
}

export type HeaderVerdict = "fine" | "unsupported" | "too-large";

/**
 * Checks an image's signature, header and dimensions, which takes well under a millisecond and no decoder. Everything
 * else is left to the renderer.
 */
export async function examineHeader(
  read: ReadBytes,
  sizeBytes: number,
  toolKinds: readonly ToolKind[] = [],
): Promise<HeaderVerdict> {
  const window = createByteWindow(read, sizeBytes);
  const head = await window.get(0, Math.min(signatureBytes, sizeBytes));
  if (typeof head === "string") return "unsupported";
  const toolKind = findToolKind(head);
  const kind = findSourceKind(head) ?? toolKinds.find((known) => known === toolKind);
  if (kind === undefined) return "unsupported";
  const pixels = await countPixels[kind](window, sizeBytes);
  if (pixels === "damaged") return "unsupported";
  return pixels !== "unknown" && pixels > maxPixels ? "too-large" : "fine";
}

const countPixels: Record<
  SourceKind | ToolKind,
  (window: ByteWindow, sizeBytes: number) => Promise<PixelCount>
> = {
  jpeg: countJpegPixels,
  png: countPngPixels,
  gif: (window) => countGifPixels(window, maxPixels),
  webp: (window) => countWebpPixels(window, maxPixels),
  avif: (window, sizeBytes) => countHeifPixels(window, sizeBytes, "av1C"),
  heic: (window, sizeBytes) => countHeifPixels(window, sizeBytes, "hvcC"),
  // Their pictures have a limited size, whatever they say.
  pdf: async () => "unknown",
  mov: async () => "unknown",
  matroska: async () => "unknown",
};
