"use client";

import { UpstowError } from "@upstow/sdk/client";
import type { ImageFacts } from "@upstow/sdk/images";
import { type ImgHTMLAttributes, type ReactNode, useEffect, useRef, useState } from "react";
import { type PrivateUrlOptions, usePrivateUrl } from "../core/use-private-url.ts";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { describeImage } from "../parts/describe-image.ts";
import { ImageIcon } from "../parts/icons.tsx";
import { useIsNear } from "../parts/use-is-near.ts";

export interface PrivateImageProps extends Omit<PrivateUrlOptions, "renews"> {
  /** The file's storage key, or its id. */
  fileKey: string;
  /** Describes the image; empty if it is decorative. */
  alt: string;
  width?: number;
  height?: number;
  /** The image facts from the API: reserve its space and show its placeholder until it has loaded. */
  image?: ImageFacts | null;
  /** `lazy` requests the URL only when the image comes near the viewport. */
  loading?: "eager" | "lazy";
  /** Shown instead if the file is missing or the user can't read it. */
  fallback?: ReactNode;
  /** Called once if the image cannot be shown. */
  onError?: (error: Error) => void;
  /** Further attributes of the `<img>`, such as `sizes` or `onClick`. */
  imageProps?: Omit<
    ImgHTMLAttributes<HTMLImageElement>,
    "src" | "srcSet" | "alt" | "width" | "height" | "loading" | "className" | "onError"
  >;
  words?: { failed?: string };
  classNames?: ClassNames<"image" | "fallback">;
}

/** An image for signed-in users. Your backend's read handler decides who can see it. */
export function PrivateImage(props: PrivateImageProps) {
  // Start over for another file.
  return <Picture key={props.fileKey} {...props} />;
}

function Picture(props: PrivateImageProps) {
  const { fileKey, alt, loading, fallback, onError, imageProps, words, classNames, ...others } = props;
  const { image: facts = null, width: givenWidth, height: givenHeight, ...rest } = others;
  const { width, height, style } = findBox(facts, givenWidth, givenHeight);
  const [image, isNear] = useIsNear(loading === "lazy");
  // Keep the loaded URL: with a new one, the browser would load the same bytes again.
  const [loadedUrl, setLoadedUrl] = useState<string | null>(null);
  const [brokenBy, setBrokenBy] = useState<UpstowError | null>(null);
  const hasRetried = useRef(false);
  const asked = usePrivateUrl(isNear ? fileKey : null, { ...rest, renews: false });

  const src = loadedUrl ?? asked.url;
  const error = brokenBy ?? (loadedUrl === null ? asked.error : null);
  const latestOnError = useRef(onError);
  useEffect(() => {
    latestOnError.current = onError;
  });
  useEffect(() => {
    if (error !== null) latestOnError.current?.(error);
  }, [error]);

  if (error !== null) {
    if (fallback !== undefined) return <>{fallback}</>;
    const failed = words?.failed ?? "Image not available";
    const spoken = alt === "" ? { "aria-hidden": true } : { role: "img", "aria-label": `${alt}: ${failed}` };
    return (
      <span
        {...spoken}
        className={cx("us-ui us-private-image-fallback", classNames?.fallback)}
        style={{ inlineSize: width, blockSize: height }}
      >
        <ImageIcon />
        {failed}
      </span>
    );
  }
  return (
    <img
      {...imageProps}
      ref={image}
      className={cx("us-ui us-private-image", classNames?.image)}
      style={{ ...style, ...imageProps?.style }}
      src={src ?? undefined}
      alt={alt}
      width={width}
      height={height}
      loading={loading}
      data-state={loadedUrl === null ? "loading" : "ready"}
      aria-busy={loadedUrl === null}
      onLoad={(event) => {
        hasRetried.current = false;
        setLoadedUrl(src);
        imageProps?.onLoad?.(event);
      }}
      onError={() => {
        // The link may have expired in the meantime. If a new one fails too, others would as well.
        if (hasRetried.current) setBrokenBy(unreadable());
        else if (src === asked.url) asked.renew();
        hasRetried.current = true;
        setLoadedUrl(null);
      }}
    />
  );
}

/** Without facts, the space is what was given, and the style sheet has a plain placeholder. */
function findBox(image: ImageFacts | null, width: number | undefined, height: number | undefined) {
  if (image === null) return { width, height, style: {} };
  const size = { ...(width === undefined ? {} : { width }), ...(height === undefined ? {} : { height }) };
  return describeImage({ url: "", image }, size);
}

function unreadable(): UpstowError {
  return new UpstowError("The image could not be loaded.", { code: "UNEXPECTED_ANSWER" });
}
