import type { ToolKind } from "./tools/recipes.ts";

export type SourceKind = "jpeg" | "png" | "gif" | "webp" | "avif";

/** The number of bytes that these functions need. */
export const signatureBytes = 4096;

/**
 * The image type by its first bytes; null for every other file. The declared type is ignored: an SVG called image/png
 * is still an SVG.
 */
export function findSourceKind(bytes: Uint8Array): SourceKind | null {
  const head = headOf(bytes);
  if (head.startsWith("\xff\xd8\xff")) return "jpeg";
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "png";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "gif";
  if (head.startsWith("RIFF") && head.startsWith("WEBP", 8)) return "webp";
  return listBrands(head).some((brand) => avifBrands.includes(brand)) ? "avif" : null;
}

/** The kind of file that an optional tool converts to an image, also by its first bytes. Null for images. */
export function findToolKind(bytes: Uint8Array): ToolKind | null {
  if (findSourceKind(bytes) !== null) return null;
  const head = headOf(bytes);
  if (head.startsWith("%PDF-")) return "pdf";
  if (head.startsWith("\x1a\x45\xdf\xa3")) return "matroska";
  const brands = listBrands(head);
  if (brands.some((brand) => heicBrands.includes(brand))) return "heic";
  return brands.length > 0 ? "mov" : null;
}

const avifBrands = ["avif", "avis"];
const heicBrands = ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"];

function headOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .subarray(0, signatureBytes)
    .toString("latin1");
}

/** Several formats share one container; a text that merely contains "ftypavif" has no valid box size. */
function listBrands(head: string): string[] {
  if (!head.startsWith("ftyp", 4)) return [];
  const boxBytes = Buffer.from(head.slice(0, 4), "latin1").readUInt32BE();
  if (boxBytes < 16 || boxBytes > head.length) return [];
  const brands = [head.slice(8, 12)];
  // Between them is the minor version.
  for (let at = 16; at + 4 <= boxBytes; at += 4) brands.push(head.slice(at, at + 4));
  return brands;
}
