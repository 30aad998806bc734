import type { ImageFacts } from "@upstow/contract";
import type { FileRow } from "../db/schema.ts";
import { mediaType } from "./uploads/media-type.ts";

const readable = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif"];

/** By its declared type; the real type is detected when it is rendered. */
export function isImageType(contentType: string): boolean {
  return readable.includes(mediaType(contentType));
}

/** When a confirmed file's facts are due: at once, or never. Files in customers' buckets are not read. */
export function factsDueAt({ type, store }: Pick<FileRow, "type" | "store">, ownStore: string): 0 | null {
  return store === ownStore && isImageType(type) ? 0 : null;
}

/** Null until the image was looked at, and for whatever is none. */
export function readImageFacts({ image }: Pick<FileRow, "image">): ImageFacts | null {
  return image === null ? null : (JSON.parse(image) as ImageFacts | null);
}
