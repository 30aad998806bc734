"use client";

import type { Uploader, UploaderOptions } from "@upstow/sdk/client";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useSyncExternalStore,
} from "react";
import { defaultLabels, type Labels } from "./labels.ts";
import type { ReadSettings } from "./private-urls.ts";
import type { RegisteredRouter } from "./types.ts";
import { createUploaderStore, type UploaderStore } from "./uploader-store.ts";

export interface UpstowProviderProps extends Omit<UploaderOptions, "endpoint"> {
  /** The URL of your backend's route handler. Default: `/api/upload`. */
  endpoint?: string;
  /** The URL of your backend's read handler, for private files. Default: `/api/files`. */
  filesEndpoint?: string;
  /** Your own uploader, which then replaces the other options. */
  uploader?: Uploader;
  /** Replaces the components' built-in texts. */
  labels?: Partial<Labels>;
  /** The locale of sizes and times, such as `de`. Default: the browser's. */
  locale?: string;
  children?: ReactNode;
}

interface Reading extends Pick<ReadSettings, "headers" | "fetch"> {
  endpoint: string;
}

interface Surroundings {
  reading: Reading;
  store: UploaderStore;
  labels: Labels;
  locale: string | undefined;
}

const defaultReading: Reading = {
  endpoint: "/api/files",
  headers: () => ({}),
  fetch: (...args) => globalThis.fetch(...args),
};

const Context = createContext<Surroundings | null>(null);

/** Its children share one queue, which keeps running while components mount and unmount. */
export function UpstowProvider(props: UpstowProviderProps) {
  const { endpoint = "/api/upload", uploader, labels, locale, children } = props;
  const { filesEndpoint = defaultReading.endpoint } = props;
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });

  const headers = useCallback(() => {
    const given = latest.current.headers ?? {};
    return typeof given === "function" ? given() : given;
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new queue would lose files; headers are read when used
  const store = useMemo(() => {
    const { children: _, uploader: __, labels: ___, locale: ____, filesEndpoint: _____, ...options } = props;
    return createUploaderStore(uploader, { ...options, endpoint, headers });
  }, [endpoint, uploader]);
  const reading = useMemo<Reading>(
    () => ({
      endpoint: filesEndpoint,
      headers,
      fetch: (...args) => (latest.current.fetch ?? defaultReading.fetch)(...args),
    }),
    [filesEndpoint, headers],
  );
  useEffect(() => store.hold(), [store]);

  // The server does not know the browser's locale. Render as the server did first, then in the browser's locale.
  const isInBrowser = useSyncExternalStore(subscribeToNothing, isTrue, isFalse);
  const written = locale ?? (isInBrowser ? undefined : "en");
  const value = useMemo(
    () => ({ store, reading, labels: { ...defaultLabels, ...labels }, locale: written }),
    [store, reading, labels, written],
  );
  return <Context.Provider value={value}>{children}</Context.Provider>;
}

const subscribeToNothing = () => () => {};
const isTrue = () => true;
const isFalse = () => false;

export function useSurroundings(): Surroundings {
  const value = useContext(Context);
  if (value === null) throw new Error("Wrap your upload components in an <UpstowProvider>.");
  return value;
}

/** Where private files are read. Needs no provider, because pages that only show files have none. */
export function useReading(): Reading {
  return useContext(Context)?.reading ?? defaultReading;
}

/** The current texts. */
export function useLabels(): Labels {
  return useSurroundings().labels;
}

/** The provider's queue itself. */
export function useUploader(): Uploader<RegisteredRouter> {
  return useSurroundings().store.get() as Uploader<RegisteredRouter>;
}
