"use client";

import type { UploadState } from "@upstow/sdk/client";
import { useMemo, useSyncExternalStore } from "react";
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
    const toItem = (state: UploadState): UploadItem => {
      const item = known.get(state) ?? { ...state, previewUrl: null };
      known.set(state, item);
      return item;
    };
    return {
      subscribe: (listener: () => void) => store.get().subscribe(listener),
      read(): UploadList {
        const snapshot = store.get().getSnapshot();
        if (seen === snapshot) return list;
        seen = snapshot;
        const items = snapshot.uploads.map(toItem);
        list = { items, ...summarize(items), isOnline: snapshot.isOnline, announcement: "" };
        return list;
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
  const list = useSyncExternalStore(view.subscribe, view.read, () => emptyList);
  return { ...list, actions: view.actions };
}
