import {
  type InfiniteData,
  keepPreviousData,
  QueryClient,
  skipToken,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useCallback, useEffect } from "react";
import { callApi, whenEntered } from "./api.ts";

/** One cache per signed-in account. A revisited page shows its cached data and reloads it. */
export function createQueries(): QueryClient {
  return new QueryClient({
    // The service may run on this machine, which needs no network for that.
    defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false, networkMode: "always" } },
  });
}

export interface Loaded<T> {
  data: T | null;
  error: unknown;
  isLoading: boolean;
  reload: () => void;
}

/** The response to GET at a path, if there is a path. If reloading fails, the last response is kept along with the error. */
export function useLoad<T>(path: string | null): Loaded<T> {
  const { data, error, isFetching, refetch } = useQuery<T>({
    queryKey: [path],
    queryFn: path === null ? skipToken : ({ signal }) => callApi<T>("GET", path, undefined, { signal }),
  });
  const reload = useCallback(() => void refetch(), [refetch]);
  useAgainOnEntry(error !== null, reload);
  return { data: data ?? null, error: isFetching ? null : error, isLoading: isFetching, reload };
}

/** Retries requests that failed while signed out. */
export function useAgainOnEntry(hasFailed: boolean, again: () => void): void {
  useEffect(() => (hasFailed ? whenEntered(again) : undefined), [hasFailed, again]);
}

interface Page {
  nextCursor: string | null;
  hasMore: boolean;
}

export interface Pages<Item, More = object> extends Omit<Loaded<Item[]>, "data"> {
  items: Item[];
  /** What else the server said with the last page that was loaded. */
  lastPage: More | null;
  hasMore: boolean;
  loadMore: () => void;
  /** Why the next page could not be loaded. */
  moreError: unknown;
  /** The items shown still belong to the previous query. */
  isStale: boolean;
  setItems: (change: (items: Item[]) => Item[]) => void;
}

interface PagesOptions {
  /** Shows the items of the query before until those of a new one arrive. */
  keepsPrevious?: boolean;
}

/** A list that comes page by page; `path` ends with its query. */
export function usePages<Item, Key extends string, More = object>(
  path: string,
  key: Key,
  { keepsPrevious = false }: PagesOptions = {},
): Pages<Item, More> {
  type Answer = Page & Record<Key, Item[]> & More;
  const queries = useQueryClient();
  const separator = path.includes("?") ? "&" : "?";
  const queryKey = ["pages", path];
  const query = useInfiniteQuery({
    queryKey,
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }: Answer) => nextCursor,
    async queryFn({ pageParam, signal }) {
      let cursor = pageParam;
      // A search through very many files returns several pages, some of them empty.
      for (;;) {
        const next = cursor === null ? "" : `${separator}cursor=${cursor}`;
        const page = await callApi<Answer>("GET", path + next, undefined, { signal });
        if (page[key].length > 0 || page.nextCursor === null || signal.aborted) return page;
        cursor = page.nextCursor;
      }
    },
    ...(keepsPrevious ? { placeholderData: keepPreviousData } : {}),
  });
  const { data, error, isFetching, isFetchNextPageError, hasNextPage, isPlaceholderData } = query;

  const change = (next: (data: InfiniteData<Answer>) => InfiniteData<Answer>) =>
    queries.setQueryData<InfiniteData<Answer>>(queryKey, (before) => before && next(before));
  // Only the first page: a long list is not worth loading again as a whole.
  const reload = () => {
    change(({ pages, pageParams }) => ({ pages: pages.slice(0, 1), pageParams: pageParams.slice(0, 1) }));
    void query.refetch();
  };
  useAgainOnEntry(error !== null, reload);
  const items = data?.pages.flatMap((page) => page[key]) ?? [];
  const failure = isFetching ? null : error;
  return {
    items,
    lastPage: data?.pages.at(-1) ?? null,
    hasMore: hasNextPage && !isPlaceholderData,
    error: isFetchNextPageError ? null : failure,
    moreError: isFetchNextPageError ? failure : null,
    isLoading: isFetching,
    isStale: isPlaceholderData,
    reload,
    loadMore: () => {
      if (!isFetching) void query.fetchNextPage();
    },
    setItems: (update) =>
      change(({ pages: [first, ...others], pageParams }) => ({
        pageParams,
        pages: [
          { ...first, [key]: update([first, ...others].flatMap((page) => page?.[key] ?? [])) } as Answer,
          ...others.map((page) => ({ ...page, [key]: [] })),
        ],
      })),
  };
}
