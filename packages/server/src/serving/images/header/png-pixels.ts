import { crc32 } from "node:zlib";
import type { ByteWindow, PixelCount } from "./byte-window.ts";

/** Bit depths of each colour type. */
const depths: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

/** The header is always the first chunk, with a checksum. */
export async function countPngPixels(window: ByteWindow): Promise<PixelCount> {
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
