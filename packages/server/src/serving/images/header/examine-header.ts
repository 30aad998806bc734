import { maxPixels } from "../render/render-job.ts";
import { findSourceKind, type SourceKind } from "../render/sniff-image.ts";
import { countAvifPixels } from "./avif-pixels.ts";
import { type ByteWindow, createByteWindow, type PixelCount, type ReadBytes } from "./byte-window.ts";
import { countGifPixels } from "./gif-pixels.ts";
import { countJpegPixels } from "./jpeg-pixels.ts";
import { countPngPixels } from "./png-pixels.ts";
import { countWebpPixels } from "./webp-pixels.ts";

export type HeaderVerdict = "fine" | "unsupported" | "too-large";

/** As much as `findSourceKind` looks at. */
const signatureBytes = 4096;

/**
 * Judges an image by its signature, header and dimensions, which takes well under a millisecond and no decoder. What the
 * header does not show is left to the renderer.
 */
export async function examineHeader(read: ReadBytes, sizeBytes: number): Promise<HeaderVerdict> {
  const window = createByteWindow(read, sizeBytes);
  const head = await window.get(0, Math.min(signatureBytes, sizeBytes));
  const kind = typeof head === "string" ? null : findSourceKind(head);
  if (kind === null) return "unsupported";
  const pixels = await countPixels[kind](window, sizeBytes);
  if (pixels === "damaged") return "unsupported";
  return pixels !== "unknown" && pixels > maxPixels ? "too-large" : "fine";
}

const countPixels: Record<SourceKind, (window: ByteWindow, sizeBytes: number) => Promise<PixelCount>> = {
  jpeg: countJpegPixels,
  png: countPngPixels,
  gif: (window) => countGifPixels(window, maxPixels),
  webp: (window) => countWebpPixels(window, maxPixels),
  avif: countAvifPixels,
};
