"use client";

import type { UploaderOptions } from "@upstow/sdk/client";
import { useCallback, useEffect, useRef, useSyncExternalStore } from "react";
import { createPrivateUrls, loading, type PrivateUrlState, type ReadSettings } from "./private-urls.ts";
import { useReading } from "./provider.tsx";

export interface PrivateUrlOptions extends Pick<UploaderOptions, "headers" | "fetch"> {
  /** The URL of your backend's read handler. Default: the provider's `filesEndpoint`. */
  endpoint?: string | undefined;
  /** False keeps the URL when it expires: a new one would restart a video. Default: true. */
  renews?: boolean | undefined;
}

export interface PrivateUrl extends PrivateUrlState {
  /** Requests a new URL, such as after the current one failed to load. */
  renew(): void;
}

const privateUrls = createPrivateUrls();

/**
 * A URL that reads a private file, given its key or id; with null, nothing is requested yet. It is renewed before it
 * expires, and components that show the same file share it.
 */
export function usePrivateUrl(fileKey: string | null, options: PrivateUrlOptions = {}): PrivateUrl {
  const reading = useReading();
  const { endpoint = reading.endpoint, renews = true } = options;
  const address = fileKey === null ? null : toAddress(endpoint, fileKey);

  const { headers = reading.headers, fetch = reading.fetch } = options;
  const latest = useRef<ReadSettings>({ headers: reading.headers, fetch, renews });
  useEffect(() => {
    latest.current = { headers: typeof headers === "function" ? headers : () => headers, fetch, renews };
  });

  const subscribe = useCallback(
    (onChange: () => void) => {
      if (address === null) return () => {};
      return privateUrls.subscribe(address, { onChange, getSettings: () => latest.current });
    },
    [address],
  );
  const getState = () => (address === null ? loading : privateUrls.getState(address));
  const state = useSyncExternalStore(subscribe, getState, () => loading);

  useEffect(() => {
    if (renews && address !== null) privateUrls.check(address);
  }, [renews, address]);

  const { url } = state;
  const renew = useCallback(() => {
    if (address !== null) privateUrls.replace(address, url);
  }, [address, url]);
  return { ...state, renew };
}

/** Slashes separate the parts of a key; everything else in it is part of a name. */
function toAddress(endpoint: string, fileKey: string): string {
  return `${endpoint.replace(/\/+$/, "")}/${fileKey.split("/").map(encodeURIComponent).join("/")}`;
}
