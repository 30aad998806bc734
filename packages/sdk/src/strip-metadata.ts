// Bundled into one file when the package is built: what it imports is the service's own code for `stripMetadata`.
import { canStrip, type MetadataStrip, STRIP_HEAD_BYTES, stripMetadata } from "@upstow/contract/metadata";

/**
 * Removes the location from a JPEG, PNG or WebP, and keeps other metadata. Size, pixels, colours and orientation do not
 * change. Other files are returned unchanged.
 */
export function stripGps(file: File): Promise<File> {
  return strip(file, "gps");
}

/** Takes all metadata out of a JPEG, PNG or WebP, and whatever follows the picture. Otherwise like `stripGps`. */
export function stripAll(file: File): Promise<File> {
  return strip(file, "all");
}

async function strip(file: File, what: MetadataStrip): Promise<File> {
  // By its bytes, as the service does: a picture may have any name and type.
  const head = new Uint8Array(await file.slice(0, STRIP_HEAD_BYTES).arrayBuffer());
  if (!canStrip(head)) return file;
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (!stripMetadata(bytes, what)) return file;
  return new File([bytes], file.name, { type: file.type, lastModified: file.lastModified });
}
