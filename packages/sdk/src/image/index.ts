// For pages: nothing here makes a call, needs a key, or knows Node.
export type { ImageFacts } from "../wire/files.ts";
export type { TransformOptions } from "../wire/transforms.ts";
export { type ImageFile, type ImageProps, type ImagePropsOptions, imageProps } from "./image-props.ts";
export { defaultWidths, variantUrl } from "./image-url.ts";
export { upstowLoader } from "./next-loader.ts";
export { thumbHashToDataUrl } from "./thumb-hash.ts";
