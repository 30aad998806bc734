import { type ImageLists, type LooseTransform, listedUrl } from "./listed-url.ts";

/**
 * The transformer of unpic: `<Image transformer={transform} src={file.url} …>` with the component of `@unpic/react/base`,
 * or of the same name for Vue, Svelte and others. Other images keep their URL.
 */
export function transform(src: string | URL, operations: LooseTransform, options?: ImageLists): string {
  return listedUrl(String(src), operations, options) ?? String(src);
}
