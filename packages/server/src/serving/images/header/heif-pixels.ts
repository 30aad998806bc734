import type { ByteWindow, PixelCount } from "./byte-window.ts";

interface Box {
  type: string;
  /** Offset of its content. */
  start: number;
  end: number;
}

const mostBoxes = 500;

/** The property that describes the codec: of AV1 in AVIF, of HEVC in HEIC. */
export type CodecBox = "av1C" | "hvcC";

/** The largest picture that the file describes; thumbnails, alpha and tiles are smaller than the whole. */
export async function countHeifPixels(
  window: ByteWindow,
  sizeBytes: number,
  codec: CodecBox,
): Promise<PixelCount> {
  const top = await listBoxes(window, 0, sizeBytes, "meta");
  if (typeof top === "string") return top;
  const meta = top.find((box) => box.type === "meta");
  // Optional in a sequence.
  if (meta === undefined) return top.some((box) => box.type === "moov") ? "unknown" : "damaged";
  // After four bytes of version and flags.
  const properties = await openBox(window, { ...meta, start: meta.start + 4 }, "iprp");
  if (typeof properties === "string") return properties;
  const container = await openBox(window, properties, "ipco");
  if (typeof container === "string") return container;
  const all = await listBoxes(window, container.start, container.end);
  if (typeof all === "string") return all;
  let most = 0;
  for (const { type, start } of all) {
    if (type !== "ispe") continue;
    const size = await window.get(start + 4, 8);
    if (typeof size === "string") return "unknown";
    most = Math.max(most, size.readUInt32BE(0) * size.readUInt32BE(4));
  }
  const isReadable = all.some((box) => box.type === codec);
  return isReadable && most > 0 ? most : "damaged";
}

async function openBox(window: ByteWindow, parent: Box, type: string): Promise<Box | "damaged" | "unknown"> {
  const boxes = await listBoxes(window, parent.start, parent.end, type);
  if (typeof boxes === "string") return boxes;
  return boxes.find((box) => box.type === type) ?? "damaged";
}

/** The boxes one after another, up to the first of the wanted type. */
async function listBoxes(
  window: ByteWindow,
  start: number,
  end: number,
  wanted?: string,
): Promise<Box[] | "damaged" | "unknown"> {
  const boxes: Box[] = [];
  for (let at = start; at + 8 <= end; ) {
    if (boxes.length === mostBoxes) return "unknown";
    const head = window.peek(at, 8) ?? (await window.get(at, 8));
    if (typeof head === "string") return head === "end" ? "damaged" : head;
    const type = head.toString("latin1", 4, 8);
    const size = await readSize(window, head.readUInt32BE(0), at, end);
    if (typeof size === "string") return size;
    const { headBytes, boxBytes } = size;
    if (boxBytes < headBytes || at + boxBytes > end) return "damaged";
    boxes.push({ type, start: at + headBytes, end: at + boxBytes });
    if (type === wanted) break;
    at += boxBytes;
  }
  return boxes;
}

/** 0 means to the end, 1 that eight bytes follow. */
async function readSize(window: ByteWindow, size: number, at: number, end: number) {
  if (size === 0) return { headBytes: 8, boxBytes: end - at };
  if (size !== 1) return { headBytes: 8, boxBytes: size };
  const large = await window.get(at + 8, 8);
  if (typeof large === "string") return large === "end" ? "damaged" : large;
  return { headBytes: 16, boxBytes: Number(large.readBigUInt64BE(0)) };
}
