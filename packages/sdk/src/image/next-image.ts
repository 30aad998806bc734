/**
 * The loader of next/image, for the file that `images.loaderFile` names:
 * `export { default } from "@upstow/sdk/next-image"`.
 */
export { upstowLoader, upstowLoader as default } from "./next-loader.ts";
