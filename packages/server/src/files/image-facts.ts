import type { ImageFacts } from "@upstow/contract";
import type { FileRow } from "../db/schema.ts";
import { mediaType } from "./uploads/media-type.ts";

/** Declared types that count as images: those that are always read, and those that an installed tool reads. */
export type ImageTypes = ReadonlySet<string>;

const alwaysRead = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/avif"];

export function createImageTypes(toolTypes: readonly string[]): ImageTypes {
  return new Set([...alwaysRead, ...toolTypes]);
}

/** By its declared type; the real type is detected when it is rendered. */
export function isImageType(contentType: string, imageTypes: ImageTypes): boolean {
  return imageTypes.has(mediaType(contentType));
}

/** When a confirmed file's facts are due: immediately, or never. Files in customers' buckets are not read. */
export function factsDueAt(
  { type, store }: Pick<FileRow, "type" | "store">,
  own: { store: string; imageTypes: ImageTypes },
): 0 | null {
  return store === own.store && isImageType(type, own.imageTypes) ? 0 : null;
}

/** Null until the image was read, and for files that are not images. */
export function readImageFacts({ image }: Pick<FileRow, "image">): ImageFacts | null {
  return image === null ? null : (JSON.parse(image) as ImageFacts | null);
}

/** Where the most important part of an image is, seen upright: from 0, left and top, to 1. */
export interface FocusPoint {
  x: number;
  y: number;
}

/** As rows have it, and as it is part of a variant's identity. */
export function formatFocus({ x, y }: FocusPoint): string {
  return `${x},${y}`;
}

export function readFocus(text: string | null): FocusPoint | null {
  const [x, y] = text?.split(",").map(Number) ?? [];
  return x === undefined || y === undefined ? null : { x, y };
}
