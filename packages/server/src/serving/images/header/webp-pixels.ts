import type { ByteWindow, PixelCount } from "./byte-window.ts";

const isAnimated = 0x02;
const mostChunks = 5_000;

export async function countWebpPixels(window: ByteWindow, most: number): Promise<PixelCount> {
  const head = await window.get(12, 18);
  if (typeof head === "string") return "damaged";
  switch (head.toString("latin1", 0, 4)) {
    case "VP8 ":
      return readLossy(head);
    case "VP8L":
      return head[8] === 0x2f ? readLossless(head.readUInt32LE(9)) : "damaged";
    case "VP8X": {
      const pixels = (1 + head.readUIntLE(12, 3)) * (1 + head.readUIntLE(15, 3));
      const frames = (head[8] ?? 0) & isAnimated ? await countFrames(window, most / pixels) : 1;
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

/** Those that can be seen, until they are more than are of interest. */
async function countFrames(window: ByteWindow, most: number): Promise<number> {
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
