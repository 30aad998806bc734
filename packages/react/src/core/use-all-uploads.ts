"use client";

import type { UploadState } from "@upstow/sdk/client";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { useSurroundings } from "./provider.tsx";
import { emptyList, type UploadActions } from "./queue.ts";
import { summarize } from "./summarize.ts";
import type { UploadItem, UploadList } from "./types.ts";

/** Every file of the provider, whichever component it came from. */
export function useAllUploads(): UploadList & { actions: UploadActions & { clear(): void } } {
  const { store } = useSurroundings();
  const view = useMemo(() => {
    const known = new WeakMap<UploadState, UploadItem>();
    let seen: object | null = null;
    let list = emptyList;
    const previews = new Map<string, string>();
    const toItem = (state: UploadState): UploadItem => {
      const { id, file } = state;
      if (/^(image|video)\//.test(file.type) && !previews.has(id))
        previews.set(id, URL.createObjectURL(file));
      const previewUrl = previews.get(id) ?? null;
      const before = known.get(state);
      const item = before?.previewUrl === previewUrl ? before : { ...state, previewUrl };
      known.set(state, item);
      return item;
    };
    const revoke = (isGone: (id: string) => boolean) => {
      for (const [id, url] of previews) {
        if (!isGone(id)) continue;
        URL.revokeObjectURL(url);
        previews.delete(id);
      }
    };
    return {
      subscribe: (listener: () => void) => store.get().subscribe(listener),
      read(): UploadList {
        const snapshot = store.get().getSnapshot();
        if (seen === snapshot) return list;
        seen = snapshot;
        const items = snapshot.uploads.map(toItem);
        const ids = new Set(items.map(({ id }) => id));
        revoke((id) => !ids.has(id));
        list = { items, unfinished: [], ...summarize(items), isOnline: snapshot.isOnline, announcement: "" };
        return list;
      },
      close() {
        seen = null;
        revoke(() => true);
      },
      actions: {
        pause: (id?: string) => store.get().pause(id),
        resume: (id?: string) => store.get().resume(id),
        cancel: (id?: string) => void store.get().cancel(id),
        retry: (id?: string) => store.get().retry(id),
        remove: (id: string) =>
          void store
            .get()
            .cancel(id)
            .then(() => store.get().clear(id)),
        clear: () => store.get().clear(),
      },
    };
  }, [store]);
  useEffect(() => view.close, [view]);
  const list = useSyncExternalStore(view.subscribe, view.read, () => emptyList);
  return { ...list, actions: view.actions };
}
