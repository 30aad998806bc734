import type { Patch } from "./patch.ts";

/** Between `start` and `end` is a TIFF structure, as embedded by JPEG, PNG and WebP. */
interface Stretch {
  start: number;
  end: number;
}

const orientationTag = 0x0112;
/** The directory of the place, and XMP inside EXIF. */
const placeTags = [0x8825, 0x02bc];
const entryBytes = 12;
/** A directory with one entry, and its header. */
const leastBytes = 26;
/** The picture's and its thumbnail's; more only to confuse readers. */
const mostDirectories = 4;
const bytesOfType = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8];

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
  for (const { at, littleEndian } of listEntries(patch, stretch)) {
    if (patch.view.getUint16(at, littleEndian) !== orientationTag) continue;
    const orientation = patch.view.getUint16(at + 8, littleEndian);
    return orientation >= 2 && orientation <= 8 ? orientation : null;
  }
  return null;
}

interface Entry {
  at: number;
  directory: number;
  littleEndian: boolean;
}

function* listEntries(patch: Patch, stretch: Stretch): Generator<Entry> {
  const { start, end } = stretch;
  const { view } = patch;
  const littleEndian = patch.startsWith(start, "II");
  if (end - start < leastBytes || !(littleEndian || patch.startsWith(start, "MM"))) return;
  let directory = start + view.getUint32(start + 4, littleEndian);
  for (let i = 0; i < mostDirectories && directory > start && directory + 2 <= end; i++) {
    // Counted again for each entry, because the caller may remove some.
    for (let j = 0; j < view.getUint16(directory, littleEndian); j++) {
      const at = directory + 2 + j * entryBytes;
      if (at + entryBytes > end) return;
      const before = view.getUint16(directory, littleEndian);
      yield { at, directory, littleEndian };
      if (view.getUint16(directory, littleEndian) < before) j--;
    }
    const next = directory + 2 + view.getUint16(directory, littleEndian) * entryBytes;
    if (next + 4 > end) return;
    directory = start + view.getUint32(next, littleEndian);
  }
}

/** Takes the place out, and leaves everything else where it is. */
export function removePlace(patch: Patch, stretch: Stretch): void {
  for (const entry of listEntries(patch, stretch)) {
    const tag = patch.view.getUint16(entry.at, entry.littleEndian);
    if (!placeTags.includes(tag)) continue;
    if (tag === placeTags[0]) clearDirectory(patch, stretch, entry);
    else clearValue(patch, stretch, entry.at, entry.littleEndian);
    takeOut(patch, stretch, entry);
  }
}

function clearDirectory(patch: Patch, stretch: Stretch, { at, littleEndian }: Entry): void {
  const directory = stretch.start + patch.view.getUint32(at + 8, littleEndian);
  if (directory + 2 > stretch.end) return;
  const count = patch.view.getUint16(directory, littleEndian);
  const end = Math.min(directory + 2 + count * entryBytes, stretch.end);
  for (let entry = directory + 2; entry + entryBytes <= end; entry += entryBytes)
    clearValue(patch, stretch, entry, littleEndian);
  patch.clear(directory, end);
}

/** A value of more than four bytes is stored elsewhere. */
function clearValue(patch: Patch, { start, end }: Stretch, entry: number, littleEndian: boolean): void {
  const type = patch.view.getUint16(entry + 2, littleEndian);
  const length = (bytesOfType[type] ?? 1) * patch.view.getUint32(entry + 4, littleEndian);
  if (length <= 4) return;
  const at = start + patch.view.getUint32(entry + 8, littleEndian);
  if (at < end) patch.clear(at, Math.min(at + length, end));
}

/** The entries behind it, and the link to the next directory, move up. */
function takeOut(patch: Patch, { end }: Stretch, { at, directory, littleEndian }: Entry): void {
  const { view, bytes } = patch;
  const count = view.getUint16(directory, littleEndian);
  // Hostile structures may have cleared the directory that they were listed in.
  if (count === 0) return;
  const behind = Math.min(directory + 2 + count * entryBytes + 4, end);
  bytes.copyWithin(at, at + entryBytes, behind);
  bytes.fill(0, Math.max(at, behind - entryBytes), behind);
  view.setUint16(directory, count - 1, littleEndian);
  patch.isChanged = true;
}
