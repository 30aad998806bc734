"use client";

import type { Uploader, UploaderOptions } from "@upstow/sdk/client";
import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useSyncExternalStore,
} from "react";
import { defaultLabels, type Labels } from "./labels.ts";
import type { RegisteredRouter } from "./types.ts";
import { createUploaderStore, type UploaderStore } from "./uploader-store.ts";

export interface UpstowProviderProps extends Omit<UploaderOptions, "endpoint"> {
  /** Where your backend has its route handler; `/api/upload` unless given. */
  endpoint?: string;
  /** An uploader of your own making; the other options are its business then. */
  uploader?: Uploader;
  /** Your words for what components say. */
  labels?: Partial<Labels>;
  /** How sizes and times are written, such as `de`; the browser's way unless given. */
  locale?: string;
  children?: ReactNode;
}

interface Surroundings {
  store: UploaderStore;
  labels: Labels;
  locale: string | undefined;
}

const Context = createContext<Surroundings | null>(null);

/** Everything below it shares one queue, which goes on while components come and go. */
export function UpstowProvider(props: UpstowProviderProps) {
  const { endpoint = "/api/upload", uploader, labels, locale, children } = props;
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new queue would lose files; headers are read when used
  const store = useMemo(() => {
    const { children: _, uploader: __, labels: ___, locale: ____, ...options } = props;
    const headers = () => {
      const given = latest.current.headers ?? {};
      return typeof given === "function" ? given() : given;
    };
    return createUploaderStore(uploader, { ...options, endpoint, headers });
  }, [endpoint, uploader]);
  useEffect(() => store.hold(), [store]);

  // A server does not know the browser's way. What it drew has to be drawn like that once more, then in that way.
  const isInBrowser = useSyncExternalStore(subscribeToNothing, isTrue, isFalse);
  const written = locale ?? (isInBrowser ? undefined : "en");
  const value = useMemo(
    () => ({ store, labels: { ...defaultLabels, ...labels }, locale: written }),
    [store, labels, written],
  );
  return <Context.Provider value={value}>{children}</Context.Provider>;
}

const subscribeToNothing = () => () => {};
const isTrue = () => true;
const isFalse = () => false;

export function useSurroundings(): Surroundings {
  const value = useContext(Context);
  if (value === null) throw new Error("Put an <UpstowProvider> around your upload components.");
  return value;
}

/** The words in use. */
export function useLabels(): Labels {
  return useSurroundings().labels;
}

/** The provider's queue itself. */
export function useUploader(): Uploader<RegisteredRouter> {
  return useSurroundings().store.get() as Uploader<RegisteredRouter>;
}
