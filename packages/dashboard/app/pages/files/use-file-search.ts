import { usePages } from "../../load.ts";
import { useSettled } from "../../parts/use-settled.ts";
import type { FoundFile } from "./found-file.ts";
import { useDueThumbnails } from "./use-due-thumbnails.ts";

export interface FileSearch {
  files: FoundFile[];
  /** If there are too many files to sort: only those created until then are, or from then on in a descending order. */
  sortedTo: string | null;
  hasMore: boolean;
  isLoading: boolean;
  /** The files shown still belong to the previous search. */
  isStale: boolean;
  error: unknown;
  loadMore: () => void;
  /** Loads what could not be loaded, and continues from there. */
  retry: () => void;
  /** Updates a loaded file. */
  replace: (file: FoundFile) => void;
  reload: () => void;
}

/** Paged files. The old ones stay until a new search responds, so that typing does not shift the page. */
export function useFileSearch(path: string): FileSearch {
  const settled = useSettled(path, 150);
  const list = usePages<FoundFile, "files", { sortedTo: string | null }>(settled, "files", {
    keepsPrevious: true,
  });
  useDueThumbnails(settled, list);
  const isStale = list.isStale || settled !== path;
  return {
    files: list.items,
    sortedTo: list.lastPage?.sortedTo ?? null,
    hasMore: list.hasMore,
    isLoading: list.isLoading || isStale,
    isStale,
    error: list.error ?? list.moreError,
    loadMore() {
      // Lists call this on every render: after a failure, only the user retries.
      if (!isStale && list.moreError === null && list.error === null) list.loadMore();
    },
    retry: list.moreError === null ? list.reload : list.loadMore,
    replace: (file) =>
      list.setItems((items) => items.map((before) => (before.id === file.id ? file : before))),
    reload: list.reload,
  };
}
