import { reduceToOrientation, removePlace, withoutPrefix } from "./exif.ts";
import type { MetadataStrip } from "./index.ts";
import type { Patch } from "./patch.ts";

const signatureBytes = 8;
/** Length and type in front of its data. */
const headBytes = 8;
const crcBytes = 4;
/** Private and without meaning, so it takes the place of what is removed. */
const unusedType = "nuLl";

/** Needed to display the picture. */
const needed = new Set(
  "IHDR PLTE IDAT IEND tRNS cHRM gAMA iCCP sBIT sRGB cICP mDCV cLLI bKGD hIST pHYs sPLT acTL fcTL fdAT".split(
    " ",
  ),
);
const profilePrefix = "raw profile type ";
const texts = new Set(["tEXt", "zTXt", "iTXt"]);

export function stripPng(patch: Patch, strip: MetadataStrip): void {
  const { bytes, view } = patch;
  let at = signatureBytes;
  while (at + headBytes <= bytes.length) {
    const start = at + headBytes;
    const end = Math.min(start + view.getUint32(at), bytes.length);
    const type = String.fromCharCode(...bytes.subarray(at + 4, start));
    if (type === "eXIf") {
      const exif = withoutPrefix(patch, { start, end });
      if (strip === "gps") removePlace(patch, exif);
      else if (!reduceToOrientation(patch, exif)) blank(patch, at, end);
    } else if (strip === "gps" ? mayNamePlace(patch, type, start, end) : !needed.has(type)) {
      blank(patch, at, end);
    }
    if (!needed.has(type) && end + crcBytes <= bytes.length) setCrc(patch, at + 4, end);
    at = end + crcBytes;
    if (type === "IEND") break;
  }
  patch.clear(Math.min(at, bytes.length), bytes.length);
}

function blank(patch: Patch, at: number, end: number): void {
  patch.put(
    at + 4,
    [...unusedType].map((letter) => letter.charCodeAt(0)),
  );
  patch.clear(at + headBytes, end);
}

/** XMP may be compressed, ImageMagick writes EXIF in digits, and unknown chunks may hold anything. */
function mayNamePlace(patch: Patch, type: string, start: number, end: number): boolean {
  if (!texts.has(type)) return !needed.has(type) && type !== "tIME";
  const isProfile = patch.includes(start, Math.min(start + profilePrefix.length, end), profilePrefix);
  return isProfile || patch.startsWith(start, "XML:com.adobe.xmp") || patch.namesGps(start, end);
}

function setCrc({ bytes, view }: Patch, start: number, end: number): void {
  let crc = 0xffff_ffff;
  for (let at = start; at < end; at++) crc = (crc >>> 8) ^ (crcTable[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
  view.setUint32(end, ~crc >>> 0);
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb8_8320 : crc >>> 1;
  return crc;
});
