import type { ByteWindow, PixelCount } from "./byte-window.ts";

/** Real files have a few dozen. */
const mostSegments = 2_000;

/** The frame header comes behind any number of segments: EXIF, profiles, previews. */
export async function countJpegPixels(window: ByteWindow): Promise<PixelCount> {
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
