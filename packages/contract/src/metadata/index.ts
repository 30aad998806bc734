import type { StripChoice } from "../vocabulary.ts";
import { stripJpeg } from "./jpeg.ts";
import { Patch } from "./patch.ts";
import { stripPng } from "./png.ts";
import { stripWebp } from "./webp.ts";

/** `gps` takes out where a picture was taken, `all` everything that it is not drawn with. */
export type MetadataStrip = Exclude<StripChoice, "off">;

/** So many bytes at the start tell whether a file is of a format that can be stripped. */
export const STRIP_HEAD_BYTES = 12;

const starts = (bytes: Uint8Array, text: string, at = 0) =>
  text.split("").every((letter, i) => bytes[at + i] === letter.charCodeAt(0));

/** By its first bytes, not by what it is called. Null for any format but JPEG, PNG and WebP. */
function findStripper(head: Uint8Array) {
  if (starts(head, "\xff\xd8\xff")) return stripJpeg;
  if (starts(head, "\x89PNG\r\n\x1a\n")) return stripPng;
  return starts(head, "RIFF") && starts(head, "WEBP", 8) ? stripWebp : null;
}

export const canStrip = (head: Uint8Array) => findStripper(head) !== null;

/**
 * Overwrites metadata in place: pixels, colour profile, orientation and the file's size do not change. Bytes after the
 * picture are overwritten as well. Returns whether a byte was changed; a second call changes none.
 */
export function stripMetadata(bytes: Uint8Array, strip: MetadataStrip): boolean {
  const patch = new Patch(bytes);
  findStripper(bytes)?.(patch, strip);
  return patch.isChanged;
}
