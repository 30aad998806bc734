import { useCallback, useEffect, useState } from "react";
import { callApi } from "./api.ts";

export interface Loaded<T> {
  data: T | null;
  error: unknown;
  isLoading: boolean;
  reload: () => void;
}

/** What GET answers at a path. An answer that comes after the path has changed is dropped. */
export function useLoad<T>(path: string): Loaded<T> {
  const [state, setState] = useState<{ path: string; data: T | null; error: unknown; isLoading: boolean }>({
    path,
    data: null,
    error: null,
    isLoading: true,
  });
  const [version, setVersion] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version asks again
  useEffect(() => {
    let isCurrent = true;
    const settle = (data: T | null, error: unknown) => {
      if (isCurrent) setState({ path, data, error, isLoading: false });
    };
    setState((before) => ({
      path,
      data: before.path === path ? before.data : null,
      error: null,
      isLoading: true,
    }));
    callApi<T>("GET", path).then(
      (data) => settle(data, null),
      (error) => settle(null, error),
    );
    return () => {
      isCurrent = false;
    };
  }, [path, version]);

  const reload = useCallback(() => setVersion((before) => before + 1), []);
  return {
    data: state.path === path ? state.data : null,
    error: state.error,
    isLoading: state.isLoading,
    reload,
  };
}

interface Page {
  nextCursor: string | null;
  hasMore: boolean;
}

export interface Pages<Item> extends Omit<Loaded<Item[]>, "data"> {
  items: Item[];
  hasMore: boolean;
  loadMore: () => void;
  setItems: (change: (items: Item[]) => Item[]) => void;
}

/** A list that comes page by page; `path` ends with its query. */
export function usePages<Item, Key extends string>(path: string, key: Key): Pages<Item> {
  const first = useLoad<Page & Record<Key, Item[]>>(path);
  const [more, setMore] = useState<{ items: Item[]; cursor: string | null }>({ items: [], cursor: null });
  const [problem, setProblem] = useState<unknown>(null);
  const [isLoadingMore, setLoadingMore] = useState(false);

  useEffect(() => {
    if (first.data === null) return;
    setMore({ items: first.data[key], cursor: first.data.nextCursor });
    setProblem(null);
  }, [first.data, key]);

  const loadMore = () => {
    if (more.cursor === null || isLoadingMore) return;
    setLoadingMore(true);
    const separator = path.includes("?") ? "&" : "?";
    callApi<Page & Record<Key, Item[]>>("GET", `${path}${separator}cursor=${more.cursor}`)
      .then((page) =>
        setMore((before) => ({ items: [...before.items, ...page[key]], cursor: page.nextCursor })),
      )
      .catch(setProblem)
      .finally(() => setLoadingMore(false));
  };

  // A search over very many files answers in stretches, of which some hold nothing.
  const isBlank = first.data !== null && more.items.length === 0 && more.cursor !== null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each blank stretch asks for the next one
  useEffect(() => {
    if (isBlank && problem === null) loadMore();
  }, [isBlank, more.cursor]);

  return {
    items: first.data === null ? [] : more.items,
    hasMore: more.cursor !== null,
    error: first.error ?? problem,
    isLoading: first.isLoading || isLoadingMore || isBlank,
    reload: first.reload,
    loadMore,
    setItems: (change) => setMore((before) => ({ ...before, items: change(before.items) })),
  };
}
