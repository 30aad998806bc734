import type { UploadState, UploadTask } from "@upstow/sdk/client";
import type { UploadItem } from "./types.ts";

/** A list's state of one file. */
export interface Entry {
  id: string;
  file: File;
  task: UploadTask<unknown> | null;
  rejection: Error | null;
  previewUrl: string | null;
  /** The state that `item` was made from. */
  seen: UploadState | null;
  item: UploadItem | null;
}

let nextId = 1;

export function createEntry(file: File, rejection: Error | null): Entry {
  return { id: `us-${nextId++}`, file, task: null, rejection, previewUrl: null, seen: null, item: null };
}

/** Only previewable files have one. */
export function createPreview({ file, rejection }: Pick<Entry, "file" | "rejection">): string | null {
  return rejection === null && /^(image|video)\//.test(file.type) ? URL.createObjectURL(file) : null;
}

export function setPreview(entry: Entry, url: string | null): void {
  if (entry.previewUrl === url) return;
  if (entry.previewUrl !== null) URL.revokeObjectURL(entry.previewUrl);
  entry.previewUrl = url;
  entry.item = null;
}

/** Returns the same object while nothing has changed. */
export function describe(entry: Entry): UploadItem {
  const { id, file, task, rejection, previewUrl } = entry;
  const state = task?.getState() ?? null;
  if (entry.item !== null && entry.seen === state) return entry.item;
  entry.seen = state;
  entry.item = {
    sentBytes: 0,
    totalBytes: file.size,
    progress: 0,
    bytesPerSec: 0,
    secondsLeft: null,
    waitSeconds: null,
    isResumed: false,
    uploaded: null,
    ...state,
    id,
    file,
    status: state?.status ?? (rejection === null ? "staged" : "rejected"),
    error: state?.error ?? rejection,
    previewUrl,
  };
  return entry.item;
}
