import type { Patch } from "./patch.ts";

/** Between `start` and `end` is a TIFF structure, as embedded by JPEG, PNG and WebP. */
export interface Stretch {
  start: number;
  end: number;
}

const orientationTag = 0x0112;
/** The directory of the place, and XMP inside EXIF. */
const placeTags = [0x8825, 0x02bc];
/** The directory of the exposure. Few writers put the one of the place in there. */
const exposureTag = 0x8769;
const thumbnailTag = 0x0201;
const entryBytes = 12;
/** A directory with one entry, and its header. */
const leastBytes = 26;
/** The picture's, its thumbnail's and that of the exposure; more only to confuse readers. */
const mostDirectories = 8;
/** Entries and values of real EXIF do not overlap, so each byte is visited once or twice. */
const mostVisits = 4;
const jpegPrefix = "Exif\0\0";
const bytesOfType = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8];

/** Some writers keep the prefix that only JPEG has. */
export function withoutPrefix(patch: Patch, { start, end }: Stretch): Stretch {
  return { start: patch.startsWith(start, jpegPrefix) ? start + jpegPrefix.length : start, end };
}

/** Where EXIF is longer than a segment of JPEG, the next one continues it without a header. */
export const hasHeader = (patch: Patch, { start }: Stretch) =>
  patch.startsWith(start, "II") || patch.startsWith(start, "MM");

/** Leaves the orientation alone, where there is one that turns the picture. False if nothing is left. */
export function reduceToOrientation(patch: Patch, stretch: Stretch): boolean {
  const orientation = findOrientation(patch, stretch);
  const length = stretch.end - stretch.start;
  if (orientation === null || length < leastBytes) {
    patch.clear(stretch.start, stretch.end);
    return false;
  }
  patch.put(stretch.start, [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1]);
  patch.put(stretch.start + 10, [
    orientationTag >> 8,
    orientationTag & 0xff,
    0,
    3,
    0,
    0,
    0,
    1,
    0,
    orientation,
    0,
    0,
  ]);
  patch.clear(stretch.start + 22, stretch.end);
  return true;
}

function findOrientation(patch: Patch, stretch: Stretch): number | null {
  for (const { at, directory, first, littleEndian } of listEntries(patch, stretch)) {
    // The thumbnail's is not the picture's.
    if (directory !== first) return null;
    if (patch.view.getUint16(at, littleEndian) !== orientationTag) continue;
    const orientation = patch.view.getUint16(at + 8, littleEndian);
    return orientation >= 2 && orientation <= 8 ? orientation : null;
  }
  return null;
}

interface Entry {
  at: number;
  directory: number;
  first: number;
  littleEndian: boolean;
}

function* listEntries(patch: Patch, stretch: Stretch): Generator<Entry> {
  const { start, end } = stretch;
  const { view } = patch;
  if (end - start < leastBytes || !hasHeader(patch, stretch)) return;
  const littleEndian = patch.startsWith(start, "II");
  const first = start + view.getUint32(start + 4, littleEndian);
  const directories = new Set([first]);
  for (const directory of directories) {
    if (directory <= start || directory + 2 > end) continue;
    // Counted again for each entry, because the caller may remove some.
    for (let j = 0; j < view.getUint16(directory, littleEndian); j++) {
      const at = directory + 2 + j * entryBytes;
      if (at + entryBytes > end) break;
      const before = view.getUint16(directory, littleEndian);
      if (view.getUint16(at, littleEndian) === exposureTag) add(view.getUint32(at + 8, littleEndian));
      yield { at, directory, first, littleEndian };
      if (view.getUint16(directory, littleEndian) < before) j--;
    }
    const next = directory + 2 + view.getUint16(directory, littleEndian) * entryBytes;
    if (next + 4 <= end) add(view.getUint32(next, littleEndian));
  }

  function add(offset: number) {
    if (directories.size < mostDirectories) directories.add(start + offset);
  }
}

/** Takes the place out, of the thumbnail too, and leaves everything else where it is. */
export function removePlace(patch: Patch, stretch: Stretch): void {
  const thumbnail = removeOwnPlace(patch, stretch);
  // A thumbnail is a JPEG, which may have EXIF of its own.
  const prefix = thumbnail === null ? -1 : patch.indexOf(thumbnail, stretch.end, jpegPrefix);
  if (prefix !== -1) removeOwnPlace(patch, { start: prefix + jpegPrefix.length, end: stretch.end });
}

/** Returns where the thumbnail begins, or null. */
function removeOwnPlace(patch: Patch, stretch: Stretch): number | null {
  let thumbnail: number | null = null;
  let visited = 0;
  for (const entry of listEntries(patch, stretch)) {
    const tag = patch.view.getUint16(entry.at, entry.littleEndian);
    if (tag === thumbnailTag)
      thumbnail = stretch.start + patch.view.getUint32(entry.at + 8, entry.littleEndian);
    if (!placeTags.includes(tag)) continue;
    visited +=
      tag === placeTags[0]
        ? clearDirectory(patch, stretch, entry)
        : clearValue(patch, stretch, entry.at, entry.littleEndian);
    visited += takeOut(patch, stretch, entry);
    // Only a hostile structure overlaps so often. It would keep us busy for hours.
    if (visited > mostVisits * (stretch.end - stretch.start)) {
      patch.clear(stretch.start, stretch.end);
      return null;
    }
  }
  return thumbnail;
}

/** Like the next two, returns how many bytes were visited. */
function clearDirectory(patch: Patch, stretch: Stretch, { at, littleEndian }: Entry): number {
  const directory = stretch.start + patch.view.getUint32(at + 8, littleEndian);
  if (directory + 2 > stretch.end) return 0;
  const count = patch.view.getUint16(directory, littleEndian);
  const end = Math.min(directory + 2 + count * entryBytes, stretch.end);
  let visited = end - directory;
  for (let entry = directory + 2; entry + entryBytes <= end; entry += entryBytes) {
    visited += clearValue(patch, stretch, entry, littleEndian);
    if (visited > mostVisits * (stretch.end - stretch.start)) break;
  }
  patch.clear(directory, end);
  return visited;
}

/** A value of more than four bytes is stored elsewhere. */
function clearValue(patch: Patch, { start, end }: Stretch, entry: number, littleEndian: boolean): number {
  const type = patch.view.getUint16(entry + 2, littleEndian);
  const length = (bytesOfType[type] ?? 1) * patch.view.getUint32(entry + 4, littleEndian);
  if (length <= 4) return 0;
  const at = start + patch.view.getUint32(entry + 8, littleEndian);
  const behind = Math.min(at + length, end);
  if (at >= behind) return 0;
  patch.clear(at, behind);
  return behind - at;
}

/** The entries behind it, and the link to the next directory, move up. */
function takeOut(patch: Patch, { end }: Stretch, { at, directory, littleEndian }: Entry): number {
  const { view, bytes } = patch;
  const count = view.getUint16(directory, littleEndian);
  // Hostile structures may have cleared the directory that they were listed in.
  if (count === 0) return 0;
  const behind = Math.min(directory + 2 + count * entryBytes + 4, end);
  bytes.copyWithin(at, at + entryBytes, behind);
  bytes.fill(0, Math.max(at, behind - entryBytes), behind);
  view.setUint16(directory, count - 1, littleEndian);
  patch.isChanged = true;
  return behind - at;
}
