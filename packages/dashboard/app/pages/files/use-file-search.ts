import { usePages } from "../../load.ts";
import { useSettled } from "../../parts/use-settled.ts";
import type { FoundFile } from "./found-file.ts";

export interface FileSearch {
  files: FoundFile[];
  hasMore: boolean;
  isLoading: boolean;
  /** The files shown still answer the search before. */
  isStale: boolean;
  error: unknown;
  loadMore: () => void;
  /** Loads what could not be loaded, and continues from there. */
  retry: () => void;
  /** Shows a loaded file as it is now. */
  replace: (file: FoundFile) => void;
  reload: () => void;
}

/** Files that come page by page. The old ones stay until a new search answers, so that typing does not move the page. */
export function useFileSearch(path: string): FileSearch {
  const settled = useSettled(path, 150);
  const list = usePages<FoundFile, "files">(settled, "files", { keepsPrevious: true });
  const isStale = list.isStale || settled !== path;
  return {
    files: list.items,
    hasMore: list.hasMore,
    isLoading: list.isLoading || isStale,
    isStale,
    error: list.error ?? list.moreError,
    loadMore() {
      // Lists call this whenever they render: after a failure, only the user asks again.
      if (!isStale && list.moreError === null && list.error === null) list.loadMore();
    },
    retry: list.moreError === null ? list.reload : list.loadMore,
    replace: (file) =>
      list.setItems((items) => items.map((before) => (before.id === file.id ? file : before))),
    reload: list.reload,
  };
}
