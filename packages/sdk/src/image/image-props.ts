import type { ImageFacts } from "../wire/files.ts";
import type { TransformOptions } from "../wire/transforms.ts";
import { defaultWidths, variantUrl } from "./image-url.ts";
import { thumbHashToDataUrl } from "./thumb-hash.ts";

export interface ImagePropsOptions extends TransformOptions {
  /** How wide the image is shown, as in the `sizes` attribute. Default: 100vw, or `width` if that is given. */
  sizes?: string;
  /** The name of one of the project's presets, instead of widths and other options. */
  preset?: string;
  /** The widths that the project lists, if it has its own. */
  widths?: readonly number[];
}

/** Attributes of an `<img>`, as React, Vue and Svelte accept them. */
export interface ImageProps {
  src: string;
  srcSet?: string;
  sizes?: string;
  width?: number;
  height?: number;
  style: Record<string, string>;
}

/** A file as the API returns it, with image facts if they were requested. */
export interface ImageFile {
  url: string;
  image?: ImageFacts | null;
}

const minimumOfPage = 640;

/**
 * Attributes of a responsive image, with no call: a URL per width, the space it takes, and its placeholder as the
 * background until it has loaded. `width` and `height` are those of the layout.
 */
export function imageProps(file: ImageFile, options: ImagePropsOptions = {}): ImageProps {
  const { sizes, preset, widths = defaultWidths, ...transform } = options;
  const box = findBox(file.image ?? null, transform);
  const style = findStyle(file.image ?? null, transform);
  const named = preset === undefined ? null : variantUrl(file.url, preset);
  if (named !== null) return { src: named, ...box, style };
  const sources = selectWidths(widths, { sizes, shown: transform.width, natural: file.image?.width }).map(
    (width) => ({ width, url: variantUrl(file.url, scale(transform, width)) }),
  );
  const last = sources.at(-1);
  if (last?.url == null) return { src: file.url, ...box, style };
  return {
    src: last.url,
    srcSet: sources.map(({ url, width }) => `${url} ${width}w`).join(", "),
    sizes: sizes ?? (transform.width === undefined ? "100vw" : `${transform.width}px`),
    ...box,
    style,
  };
}

/** The same proportions at another width. */
function scale(transform: TransformOptions, width: number): TransformOptions {
  const { width: shown, height } = transform;
  if (shown === undefined || height === undefined) return { ...omitHeight(transform), width };
  return { ...transform, width, height: Math.min(4096, Math.max(1, Math.round((width * height) / shown))) };
}

function omitHeight({ height: _, ...rest }: TransformOptions): TransformOptions {
  return rest;
}

interface Wanted {
  sizes: string | undefined;
  shown: number | undefined;
  natural: number | undefined;
}

/** Up to the first that is as large as the original; for a fixed width those for screens of one to three times its pixels. */
function selectWidths(widths: readonly number[], { sizes, shown, natural }: Wanted): number[] {
  const rising = [...widths].sort((a, b) => a - b);
  const largest = natural === undefined ? undefined : rising.find((width) => width >= natural);
  const within = rising.filter((width) => width <= (largest ?? Number.POSITIVE_INFINITY));
  if (sizes !== undefined) return within;
  const smallest = shown ?? minimumOfPage;
  const most = shown === undefined ? undefined : rising.find((width) => width >= 3 * shown);
  const chosen = within.filter((width) => width >= smallest && width <= (most ?? Number.POSITIVE_INFINITY));
  return chosen.length > 0 ? chosen : within.slice(-1);
}

/** So that nothing moves when the image arrives. */
function findBox(
  image: ImageFacts | null,
  { width, height, fit = "scale-down", rotate }: TransformOptions,
): Pick<ImageProps, "width" | "height"> {
  const cuts = fit === "cover" || fit === "crop" || fit === "pad";
  if (width !== undefined && height !== undefined && (cuts || image === null)) return { width, height };
  if (image === null)
    return { ...(width === undefined ? {} : { width }), ...(height === undefined ? {} : { height }) };
  const isTurned = rotate === 90 || rotate === 270;
  const [across, down] = isTurned ? [image.height, image.width] : [image.width, image.height];
  const factor = Math.min((width ?? across) / across, (height ?? down) / down);
  const side = (px: number) => Math.max(1, Math.round(px * factor));
  return { width: width !== undefined && height === undefined ? width : side(across), height: side(down) };
}

/** Transparent images get no placeholder, because it would show through. */
function findStyle(image: ImageFacts | null, { rotate, fit }: TransformOptions): Record<string, string> {
  const flow = { maxWidth: "100%", height: "auto" };
  if (image === null || image.hasAlpha || rotate !== undefined || fit === "pad") return flow;
  const placeholder = thumbHashToDataUrl(image.thumbhash);
  return {
    ...flow,
    backgroundColor: image.dominantColor,
    ...(placeholder === null
      ? {}
      : { backgroundImage: `url(${placeholder})`, backgroundSize: "cover", backgroundPosition: "center" }),
  };
}
