import { useEffect } from "react";
import { isServersOrder, mostSorted, type Sort, sortFiles } from "./file-sort.ts";
import type { FoundFile } from "./found-file.ts";
import type { FileSearch } from "./use-file-search.ts";

/** Another order than the server's needs every file there is, within reason: more are loaded until then. */
export function useSortedFiles(found: FoundFile[], search: FileSearch, sort: Sort) {
  const isSorted = !isServersOrder(sort);
  const isFull = found.length >= mostSorted;
  const needsMore = isSorted && search.hasMore && !isFull;
  useEffect(() => {
    if (needsMore && !search.isLoading) search.loadMore();
  });
  return { files: sortFiles(found, sort), isCut: isSorted && search.hasMore && isFull };
}
