import { reduceToOrientation, removePlace, withoutPrefix } from "./exif.ts";
import type { MetadataStrip } from "./index.ts";
import type { Patch } from "./patch.ts";

const firstChunk = 12;
const headBytes = 8;
const exifFlag = 0x08;
const xmpFlag = 0x04;

/** Needed to display the picture. */
const needed = new Set(["VP8X", "VP8 ", "VP8L", "ALPH", "ANIM", "ANMF", "ICCP"]);

export function stripWebp(patch: Patch, strip: MetadataStrip): void {
  const { bytes, view } = patch;
  const riffEnd = Math.min(8 + view.getUint32(4, true), bytes.length);
  let cleared = 0;
  for (let at = firstChunk; at + headBytes <= riffEnd; ) {
    const start = at + headBytes;
    const size = view.getUint32(at + 4, true);
    const end = Math.min(start + size, riffEnd);
    const type = String.fromCharCode(...bytes.subarray(at, at + 4));
    const blank = () => {
      patch.put(at, [0x4a, 0x55, 0x4e, 0x4b]);
      patch.clear(start, end);
    };
    if (type === "EXIF") {
      const exif = withoutPrefix(patch, { start, end });
      if (strip === "gps") removePlace(patch, exif);
      else if (!reduceToOrientation(patch, exif)) {
        blank();
        cleared |= exifFlag;
      }
    } else if (strip === "gps" ? mayNamePlace(patch, type, start, end) : !needed.has(type)) {
      blank();
      if (type === "XMP ") cleared |= xmpFlag;
    }
    // Chunks begin at even places.
    at = end + (size % 2);
  }
  clearFlags(patch, cleared);
  patch.clear(riffEnd, bytes.length);
}

const mayNamePlace = (patch: Patch, type: string, start: number, end: number) =>
  type === "XMP " ? patch.namesGps(start, end) : !needed.has(type);

function clearFlags(patch: Patch, flags: number): void {
  const at = firstChunk + headBytes;
  if (patch.startsWith(firstChunk, "VP8X")) patch.put(at, [(patch.bytes[at] ?? 0) & ~flags]);
}
