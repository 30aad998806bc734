import { imageProps as describeImage, type ImageFile, type ImagePropsOptions } from "@upstow/sdk/images";
import type { ImgHTMLAttributes } from "react";
import { type ClassNames, cx } from "../parts/class-names.ts";

export interface UpstowImageProps extends ImagePropsOptions {
  /** A public file as the API returns it. Its `image` gives the space to reserve and the placeholder. */
  file: ImageFile;
  /** Describes the image; empty if it is decorative. */
  alt: string;
  /** `eager` for images visible on load. */
  loading?: "eager" | "lazy";
  /** Further attributes of the `<img>`, such as `fetchPriority` or `onClick`. */
  imageProps?: Omit<
    ImgHTMLAttributes<HTMLImageElement>,
    "src" | "srcSet" | "sizes" | "alt" | "width" | "height" | "loading" | "className"
  >;
  classNames?: ClassNames<"image">;
}

/** A responsive image: a URL per width without a call, its space reserved, its placeholder painted until it has loaded. */
export function UpstowImage(props: UpstowImageProps) {
  const { file, alt, loading = "lazy", imageProps, classNames, ...options } = props;
  const { src, srcSet, sizes, style, ...box } = describeImage(file, options);
  return (
    <img
      decoding="async"
      {...imageProps}
      {...box}
      className={cx("us-image", classNames?.image)}
      alt={alt}
      style={{ ...style, ...imageProps?.style }}
      // Before `src`: a browser begins to load when it meets that.
      loading={loading}
      sizes={sizes}
      srcSet={srcSet}
      src={src}
    />
  );
}
