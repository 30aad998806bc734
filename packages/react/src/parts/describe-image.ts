import { type ImageFile, type ImagePropsOptions, imageProps } from "@upstow/sdk/images";

/** Attributes of an image whose size the style sheet decides: its URLs, its space and its placeholder. */
export function describeImage(file: ImageFile, options: ImagePropsOptions) {
  const { style, ...image } = imageProps(file, options);
  const { maxWidth: _, height: __, ...placeholder } = style;
  return { ...image, style: placeholder };
}
