import { hasHeader, reduceToOrientation, removePlace } from "./exif.ts";
import type { MetadataStrip } from "./index.ts";
import type { Patch } from "./patch.ts";

const endOfImage = 0xd9;
const startOfScan = 0xda;
const comment = 0xfe;
/** Has no meaning, so it replaces removed segments. */
const unusedMarker = 0xef;

const isApplication = (marker: number) => marker >= 0xe0 && marker <= 0xef;
const isWithoutLength = (marker: number) => marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd8);

interface Segment {
  marker: number;
  /** Of its 0xFF. */
  at: number;
  /** Behind its length. */
  start: number;
  end: number;
}

export function stripJpeg(patch: Patch, strip: MetadataStrip): void {
  const length = patch.bytes.length;
  let at = 0;
  // Some cameras append more pictures, each with its own metadata.
  while (at < length) {
    const isPicture = patch.bytes[at] === 0xff && patch.bytes[at + 1] === 0xd8;
    if (isPicture && (strip === "gps" || at === 0)) {
      at = stripPicture(patch, strip, at + 2);
    } else {
      patch.clear(at, length);
      return;
    }
  }
}

/** Returns where the picture ends. */
function stripPicture(patch: Patch, strip: MetadataStrip, start: number): number {
  const { bytes, view } = patch;
  let at = start;
  for (;;) {
    at = bytes.indexOf(0xff, at);
    if (at === -1 || at + 1 >= bytes.length) return bytes.length;
    const marker = bytes[at + 1] ?? 0;
    if (marker === endOfImage) return at + 2;
    // 0xFF may be repeated in front of a marker.
    if (marker === 0xff) at++;
    else if (isWithoutLength(marker)) at += 2;
    else {
      const size = at + 4 <= bytes.length ? view.getUint16(at + 2) : 0;
      const end = Math.min(at + 2 + Math.max(2, size), bytes.length);
      stripSegment(patch, strip, { marker, at, start: Math.min(at + 4, end), end });
      at = marker === startOfScan ? findScanEnd(bytes, end) : end;
    }
  }
}

/** In coded data, a zero or the number of a restart follows each 0xFF. */
function findScanEnd(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(0xff, start); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1];
    if (next !== undefined && next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  return bytes.length;
}

function stripSegment(patch: Patch, strip: MetadataStrip, segment: Segment): void {
  const { marker, at, start, end } = segment;
  if (!isApplication(marker) && marker !== comment) return;
  const exif = { start: start + 6, end };
  if (marker === 0xe1 && patch.startsWith(start, "Exif\0")) {
    if (!hasHeader(patch, exif)) blank();
    else if (strip === "gps") removePlace(patch, exif);
    else if (!reduceToOrientation(patch, exif)) blank();
    return;
  }
  if (strip === "gps" ? mayNamePlace(patch, segment) : !isNeeded(patch, segment)) blank();

  function blank() {
    patch.put(at + 1, [unusedMarker]);
    patch.clear(start, end);
  }
}

/** Needed for decoding: density, colour profile, and the meaning of the components. */
function isNeeded(patch: Patch, { marker, start }: Segment): boolean {
  if (marker === 0xe0) return patch.startsWith(start, "JFIF\0");
  if (marker === 0xe2) return patch.startsWith(start, "ICC_PROFILE\0");
  return marker === 0xee && patch.startsWith(start, "Adobe");
}

const xmpPrefix = "http://ns.adobe.com/xap/1.0/\0";
/** Density, colour profile and further pictures, and the meaning of the components. */
const withoutPlace = [0xe0, 0xe2, 0xee];
/** EXIF and XMP inside Photoshop's resources. */
const photoshopCopies = ["8bim\x04\x22", "8bim\x04\x23", "8bim\x04\x24"];

/** Blocks of makers may, such as those of GoPro and FLIR, and statements on a picture's origin. */
function mayNamePlace(patch: Patch, { marker, start, end }: Segment): boolean {
  if (marker === comment) return patch.namesGps(start, end);
  if (marker === 0xe1) return !patch.startsWith(start, xmpPrefix) || patch.namesGps(start, end);
  if (marker === 0xed) return photoshopCopies.some((resource) => patch.includes(start, end, resource));
  return !withoutPlace.includes(marker);
}
