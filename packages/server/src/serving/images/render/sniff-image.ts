export type SourceKind = "jpeg" | "png" | "gif" | "webp" | "avif";

/**
 * The image type by its first bytes; null for every other file. The declared type is ignored: an SVG called image/png
 * is still an SVG.
 */
export function findSourceKind(bytes: Uint8Array): SourceKind | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .subarray(0, 4096)
    .toString("latin1");
  if (head.startsWith("\xff\xd8\xff")) return "jpeg";
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "png";
  if (head.startsWith("GIF87a") || head.startsWith("GIF89a")) return "gif";
  if (head.startsWith("RIFF") && head.startsWith("WEBP", 8)) return "webp";
  return hasAvifBrand(head) ? "avif" : null;
}

/** HEIC shares the container, so the brands decide; a text that merely contains "ftypavif" has no valid box size. */
function hasAvifBrand(head: string): boolean {
  if (!head.startsWith("ftyp", 4)) return false;
  const boxBytes = Buffer.from(head.slice(0, 4), "latin1").readUInt32BE();
  if (boxBytes < 16 || boxBytes > head.length) return false;
  for (let at = 8; at + 4 <= boxBytes; at += 4) {
    const isMinorVersion = at === 12;
    if (!isMinorVersion && ["avif", "avis"].includes(head.slice(at, at + 4))) return true;
  }
  return false;
}
