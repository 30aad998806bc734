import { useCallback, useEffect, useState } from "react";
import { callApi, whenEntered } from "./api.ts";

export interface Loaded<T> {
  data: T | null;
  error: unknown;
  isLoading: boolean;
  reload: () => void;
}

interface Answer<T> {
  path: string;
  /** How often it had been asked for. */
  version: number;
  data: T | null;
  error: unknown;
}

/**
 * What GET answers at a path. An answer that comes after the path has changed is dropped; where asking again fails,
 * what came before stays beside the error.
 */
export function useLoad<T>(path: string): Loaded<T> {
  const [answer, setAnswer] = useState<Answer<T> | null>(null);
  const [version, setVersion] = useState(0);

  useEffect(() => {
    let isCurrent = true;
    const settle = (data: T | null, error: unknown) => {
      if (!isCurrent) return;
      setAnswer((before) => {
        const kept = before?.path === path ? before.data : null;
        return { path, version, data: data ?? kept, error };
      });
    };
    callApi<T>("GET", path).then(
      (data) => settle(data, null),
      (error) => settle(null, error),
    );
    return () => {
      isCurrent = false;
    };
  }, [path, version]);

  const reload = useCallback(() => setVersion((before) => before + 1), []);
  useAgainOnEntry(answer !== null && answer.error !== null, reload);
  const last = answer?.path === path ? answer : null;
  const isLoading = last?.version !== version;
  return { data: last?.data ?? null, error: isLoading ? null : last.error, isLoading, reload };
}

interface Page {
  nextCursor: string | null;
  hasMore: boolean;
}

/** What failed while nobody was signed in is tried again once somebody is. */
export function useAgainOnEntry(hasFailed: boolean, again: () => void): void {
  useEffect(() => (hasFailed ? whenEntered(again) : undefined), [hasFailed, again]);
}

export interface Pages<Item> extends Omit<Loaded<Item[]>, "data"> {
  items: Item[];
  hasMore: boolean;
  loadMore: () => void;
  /** Why the next page did not come. */
  moreError: unknown;
  setItems: (change: (items: Item[]) => Item[]) => void;
}

/** What has come of a list so far, and the first page that it began with. */
interface Gathered<Item> {
  first: object | null;
  items: Item[];
  cursor: string | null;
  problem: unknown;
}

/** A list that comes page by page; `path` ends with its query. */
export function usePages<Item, Key extends string>(path: string, key: Key): Pages<Item> {
  type Answer = Page & Record<Key, Item[]>;
  const { data, ...first } = useLoad<Answer>(path);
  const [gathered, setGathered] = useState<Gathered<Item>>({
    first: null,
    items: [],
    cursor: null,
    problem: null,
  });
  const [isLoadingMore, setLoadingMore] = useState(false);
  // A new first page begins a new list at once: no item of the former one is ever shown under the new filter.
  const list =
    gathered.first === data
      ? gathered
      : { first: data, items: data?.[key] ?? [], cursor: data?.nextCursor ?? null, problem: null };

  /** What comes for a list that is no longer shown is dropped. */
  const change = (next: (before: Gathered<Item>) => Partial<Gathered<Item>>) =>
    setGathered((before) => (before.first === list.first ? { ...before, ...next(before) } : before));

  const loadMore = () => {
    if (list.cursor === null || isLoadingMore) return;
    setGathered({ ...list, problem: null });
    setLoadingMore(true);
    const separator = path.includes("?") ? "&" : "?";
    callApi<Answer>("GET", `${path}${separator}cursor=${list.cursor}`)
      .then((page) => change(({ items }) => ({ items: [...items, ...page[key]], cursor: page.nextCursor })))
      .catch((problem) => change(() => ({ problem })))
      .finally(() => setLoadingMore(false));
  };

  // A search over very many files answers in stretches, of which some hold nothing.
  const isBlank = data !== null && list.items.length === 0 && list.cursor !== null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each blank stretch asks for the next one
  useEffect(() => {
    if (isBlank && list.problem === null) loadMore();
  }, [isBlank, list.cursor, isLoadingMore]);

  return {
    items: list.items,
    hasMore: list.cursor !== null,
    error: first.error ?? (list.items.length === 0 ? list.problem : null),
    moreError: list.problem,
    isLoading: first.isLoading || isLoadingMore || isBlank,
    reload: first.reload,
    loadMore,
    setItems: (next) =>
      setGathered((before) => {
        const base = before.first === list.first ? before : list;
        return { ...base, items: next(base.items) };
      }),
  };
}
