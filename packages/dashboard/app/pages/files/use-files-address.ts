import { useMemo } from "react";
import { closeTo, goTo, usePath, useQuery } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";
import { type FileFilter, noFilter, readFilter, writeFilter } from "./file-filter.ts";
import { readSort, type Sort, writeSort } from "./file-sort.ts";

/** The URL says which folder and file are open, what is searched for, and in which order. */
export function useFilesAddress() {
  const { urlOf } = useWorkspace();
  const openId = usePath().split("/")[4];
  const address = useQuery();
  const filter = useMemo(() => readFilter(address), [address]);
  const sort = readSort(address.get("sort"));
  const urlWith = (page: string, next: FileFilter, order = sort) => {
    const inOrder = writeSort(order);
    const terms = [writeFilter(next), inOrder === "" ? "" : `sort=${inOrder}`];
    return `${urlOf(page)}?${terms.filter((term) => term !== "").join("&")}`.replace(/\?$/, "");
  };
  const change = (next: FileFilter) => goTo(urlWith("files", next), { replace: true });
  return {
    openId,
    filter,
    sort,
    change,
    changeSort: (next: Sort) => goTo(urlWith("files", filter, next), { replace: true }),
    open: (file: { id: string }, replace = false) =>
      goTo(urlWith(`files/${file.id}`, filter), { replace, isOver: true }),
    close() {
      if (openId !== undefined) closeTo(urlWith("files", filter));
    },
    urlOfFolder: (routeSlug: string) => urlWith("files", { ...noFilter, routeSlug }),
  };
}
