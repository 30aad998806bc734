import { type ImageLists, type LooseTransform, listedUrl } from "./listed-url.ts";

export interface NuxtImageOptions extends ImageLists {
  modifiers?: LooseTransform | undefined;
  /** In front of `src` where that is a storage key: `https://files.example.com/f` */
  baseURL?: string | undefined;
}

/** The provider of nuxt/image: what its module imports from the name in `image.providers.upstow.provider`. */
export function getImage(src: string, { modifiers = {}, baseURL = "", ...lists }: NuxtImageOptions) {
  const url = src.startsWith("/") ? baseURL.replace(/\/$/, "") + src : src;
  return { url: listedUrl(url, modifiers, lists) ?? url };
}

const provider = { getImage };

/** As version 2 calls it. */
export default function setUpProvider(): typeof provider {
  return provider;
}
