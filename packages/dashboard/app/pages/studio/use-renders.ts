import type { ErrorBody } from "@upstow/contract";
import { useEffect, useState } from "react";
import { ApiError, checkSession, unreachable } from "../../api.ts";
import { type OutputFormat, outputFormats } from "./knobs.ts";

export interface Render {
  /** Of the bytes in this page's memory. */
  url: string;
  sizeBytes: number;
}
export type Renders = Partial<Record<OutputFormat, Render | ApiError>>;

const pauseMs = 300;

/**
 * The image in every format with the current options, and again for every new version. Each arrives when it is ready;
 * AVIF is usually the slowest.
 */
export function useRenders(api: string, query: string, version: string): Renders {
  const [renders, setRenders] = useState<Renders>({});
  // biome-ignore lint/correctness/useExhaustiveDependencies: another version has other bytes at the same query
  useEffect(() => {
    const stop = new AbortController();
    const made: string[] = [];
    const add = (format: OutputFormat, render: Render | ApiError) => {
      if (stop.signal.aborted) return;
      if ("url" in render) made.push(render.url);
      setRenders((before) => ({ ...before, [format]: render }));
    };
    setRenders({});
    const begin = () => {
      for (const format of outputFormats) {
        const path = `/dashboard/api${api}/studio?${query}&format=${format}`;
        void renderOne(path, stop.signal).then((render) => add(format, render));
      }
    };
    const timer = query === "" ? undefined : setTimeout(begin, pauseMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
      for (const url of made) URL.revokeObjectURL(url);
    };
  }, [api, query, version]);
  return renders;
}

async function renderOne(path: string, signal: AbortSignal): Promise<Render | ApiError> {
  try {
    const response = await fetch(path, { signal, credentials: "same-origin" });
    if (response.ok) {
      const bytes = await response.blob();
      return { url: URL.createObjectURL(bytes), sizeBytes: bytes.size };
    }
    if (response.status === 401) checkSession();
    const { error } = (await response.json()) as ErrorBody;
    return new ApiError(response.status, error.message, error.suggestion);
  } catch {
    return unreachable();
  }
}
