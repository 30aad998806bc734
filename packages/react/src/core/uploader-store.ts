import { createUploader, type Uploader, type UploaderOptions } from "@upstow/sdk/client";
import type { Rules } from "./types.ts";

/** Keeps the uploader of a provider: made when first needed, made anew after it was let go. */
export interface UploaderStore {
  get(): Uploader;
  /** The rules of every route, asked for once. Empty where the backend does not tell. */
  getRules(): Promise<Record<string, Rules>>;
  /** Keeps the uploader until the function that it returns is called. */
  hold(): () => void;
}

export function createUploaderStore(given: Uploader | undefined, options: UploaderOptions): UploaderStore {
  let uploader: Uploader | undefined;
  let release: ReturnType<typeof setTimeout> | undefined;
  let rules: Promise<Record<string, Rules>> | undefined;
  const get = () => {
    uploader ??= given ?? createUploader(options);
    return uploader;
  };
  return {
    get,
    getRules() {
      rules ??= get()
        .getRoutes()
        .catch(() => ({}));
      return rules;
    },
    hold() {
      clearTimeout(release);
      return () => {
        // React mounts, unmounts and mounts again while developing: whoever is back at once finds the same uploader.
        release = setTimeout(() => {
          if (given === undefined) uploader?.destroy();
          uploader = undefined;
        });
      };
    },
  };
}
