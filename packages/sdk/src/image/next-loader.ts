import { defaultQuality, variantUrl } from "./image-url.ts";

/**
 * The loader of next/image: `export { default } from "@upstow/sdk/next-image"` in the file that `images.loaderFile` names.
 * Other images than public files of Upstow keep their URL.
 */
export function upstowLoader({
  src,
  width,
  quality = defaultQuality,
}: {
  src: string;
  width: number;
  quality?: number;
}): string {
  return variantUrl(src, { width, quality }) ?? src;
}
