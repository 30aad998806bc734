import type { ByteWindow, PixelCount } from "./byte-window.ts";

const extension = 0x21;
const image = 0x2c;
/** A file of nothing but blocks of one byte must not keep us busy. */
const mostBlocks = 50_000;

/** All frames that can be seen count; those further on are counted when the image is rendered. */
export async function countGifPixels(window: ByteWindow, most: number): Promise<PixelCount> {
  const screen = await window.get(6, 7);
  if (typeof screen === "string") return "damaged";
  const pixels = screen.readUInt16LE(0) * screen.readUInt16LE(2);
  // Decoders then go by the first frame.
  if (pixels === 0) return "unknown";
  const frames = await countFrames(window, 13 + tableBytes(screen[4] ?? 0), most / pixels);
  return pixels * Math.max(1, frames);
}

async function countFrames(window: ByteWindow, start: number, most: number): Promise<number> {
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

/** The size of the colour table that a packed field announces. */
function tableBytes(packed: number): number {
  return packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0;
}
