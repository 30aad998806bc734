import { createUploader, type Uploader, type UploaderOptions } from "@upstow/sdk/client";
import type { Rules } from "./types.ts";

/** Holds a provider's uploader: created on first use, and again after it was released. */
export interface UploaderStore {
  get(): Uploader;
  /** The rules of every route, requested once. Empty if the backend does not provide them. */
  getRules(): Promise<Record<string, Rules>>;
  /** Keeps the uploader alive until the returned function is called. */
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
        // In development React mounts, unmounts and remounts; an immediate remount gets the same uploader.
        release = setTimeout(() => {
          if (given === undefined) uploader?.destroy();
          uploader = undefined;
        });
      };
    },
  };
}
