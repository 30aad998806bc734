import { fileTypeFromBuffer } from "file-type";
import {
  findCompoundFamily,
  findTextType,
  findZipFamily,
  isCompound,
  isZip,
  readMarkup,
  readText,
} from "./families.ts";

/** What was read of a file. */
export interface Sample {
  head: Buffer;
  /** The directory of a ZIP or of a compound file. */
  directory: Buffer | null;
  sizeBytes: number;
}

/** Binary formats whose start may be nothing but text. Others are not believed then: "BM" begins many a sentence. */
const textual = [
  ...["application/pdf", "application/postscript", "application/eps", "application/rtf"],
  ...["text/calendar", "text/vcard", "text/vtt", "application/pgp-encrypted", "application/x-unix-archive"],
];

/** Signatures that hold where the rest of the header lies beyond what was read. */
const signatures: [type: string, at: number, bytes: string][] = [
  ["image/jpeg", 0, "\xff\xd8\xff"],
  ["image/png", 0, "\x89PNG\r\n\x1a\n"],
  ["image/tiff", 0, "II*\0"],
  ["image/tiff", 0, "MM\0*"],
  ["image/tiff", 0, "II+\0"],
  ["image/webp", 8, "WEBPVP8"],
  ["video/mp4", 4, "ftyp"],
  ["audio/mpeg", 0, "ID3"],
  ["application/gzip", 0, "\x1f\x8b\x08"],
  ["application/x-msdownload", 0, "MZ"],
  ["video/x-ms-asf", 0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11"],
  ["video/x-matroska", 0, "\x1a\x45\xdf\xa3"],
];

/** How we call what others call otherwise. */
const names = new Map([
  ["application/x-rar-compressed", "application/vnd.rar"],
  ["image/x-icon", "image/vnd.microsoft.icon"],
  ["video/vnd.avi", "video/x-msvideo"],
  ["video/matroska", "video/x-matroska"],
  ["audio/x-m4a", "audio/mp4"],
  ["video/mp1s", "video/mpeg"],
  ["video/mp2p", "video/mpeg"],
  ["application/eps", "application/postscript"],
  ["application/vnd.ms-asf", "video/x-ms-asf"],
]);

/** Signatures of two bytes, which one random file in thousands has: believed only where the declared type agrees. */
const weak = [
  ...[
    "image/bmp",
    "audio/mpeg",
    "audio/aac",
    "audio/vnd.dolby.dd-raw",
    "application/x-arj",
    "application/x-cpio",
  ],
  ...["application/x-compress", "application/x-apple-diskimage", "video/mp2t"],
];

/** The type by the bytes, or null where they match no format that has a signature. */
export async function detectType(
  { head, directory, sizeBytes }: Sample,
  isDeclared: (type: string) => boolean,
): Promise<string | null> {
  if (isZip(head)) return findZipFamily(head, directory) ?? "application/zip";
  if (isCompound(head)) return findCompoundFamily(directory);
  const type = findTextType(readMarkup(head));
  if (type !== null) return type;
  const text = readText(head, sizeBytes <= head.length);
  const found = await detectBinary(head);
  if (found === null || (text !== null && !textual.includes(found))) return null;
  return isWeak(found, head) && !isDeclared(found) ? null : found;
}

async function detectBinary(head: Buffer): Promise<string | null> {
  const found = await fileTypeFromBuffer(head);
  const type = found?.mime.split(";", 1)[0]?.toLowerCase();
  if (type !== undefined) return names.get(type) ?? type;
  const start = head.toString("latin1", 0, 64);
  return signatures.find(([, at, bytes]) => start.startsWith(bytes, at))?.[0] ?? null;
}

const headersOfBitmaps = [12, 40, 52, 56, 64, 108, 124];

function isWeak(type: string, head: Buffer): boolean {
  if (type === "image/bmp" && head.length >= 26 && headersOfBitmaps.includes(head.readUInt32LE(14)))
    return false;
  return weak.includes(type) && head.toString("latin1", 0, 3) !== "ID3";
}
