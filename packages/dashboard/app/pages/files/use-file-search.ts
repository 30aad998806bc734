import { useCallback, useEffect, useRef, useState } from "react";
import { callApi } from "../../api.ts";
import { useAgainOnEntry } from "../../load.ts";
import type { FoundFile } from "./found-file.ts";

interface Page {
  files: FoundFile[];
  nextCursor: string | null;
}

export interface FileSearch {
  files: FoundFile[];
  hasMore: boolean;
  isLoading: boolean;
  /** What is shown still answers the search before. */
  isStale: boolean;
  error: unknown;
  loadMore: () => void;
  /** Asks for what could not be loaded, and goes on from there. */
  retry: () => void;
  /** Shows a file that is loaded as it is now. */
  replace: (file: FoundFile) => void;
  reload: () => void;
}

interface Found {
  path: string;
  files: FoundFile[];
  cursor: string | null;
}

const pauseMs = 150;

/**
 * Files that come page by page. While a new search is under way the old files stay, so that the page does not jump
 * with every key; an answer that comes too late is dropped.
 */
export function useFileSearch(path: string): FileSearch {
  const [found, setFound] = useState<Found | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isLoading, setLoading] = useState(true);
  const [version, setVersion] = useState(0);
  const asked = useRef(0);
  const askAgain = useRef(() => {});

  const ask = useCallback(async (from: string, before: FoundFile[], cursor: string | null) => {
    const question = ++asked.current;
    const isCurrent = () => question === asked.current;
    askAgain.current = () => void ask(from, before, cursor);
    setLoading(true);
    setError(null);
    try {
      let page: Page = { files: [], nextCursor: cursor };
      // A search over very many files answers in stretches, of which some hold nothing.
      do {
        const next = page.nextCursor === null ? "" : `&cursor=${page.nextCursor}`;
        page = await callApi<Page>("GET", from + next);
      } while (isCurrent() && page.files.length === 0 && page.nextCursor !== null);
      if (isCurrent()) setFound({ path: from, files: [...before, ...page.files], cursor: page.nextCursor });
    } catch (problem) {
      if (isCurrent()) setError(problem);
    }
    if (isCurrent()) setLoading(false);
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version asks again
  useEffect(() => {
    const timer = setTimeout(() => void ask(path, [], null), pauseMs);
    return () => clearTimeout(timer);
  }, [path, version, ask]);

  const replace = useCallback((file: FoundFile) => {
    const now = (before: FoundFile) => (before.id === file.id ? file : before);
    setFound((before) => before && { ...before, files: before.files.map(now) });
  }, []);
  const reload = useCallback(() => setVersion((before) => before + 1), []);
  useAgainOnEntry(error !== null, reload);
  const isStale = found !== null && found.path !== path;
  return {
    files: found?.files ?? [],
    hasMore: found !== null && found.cursor !== null,
    isLoading: isLoading || isStale,
    isStale,
    error,
    loadMore() {
      // Lists call this whenever they are drawn: after a failure nobody but the reader asks again.
      if (found === null || found.cursor === null || isLoading || isStale || error !== null) return;
      void ask(path, found.files, found.cursor);
    },
    retry: () => askAgain.current(),
    replace,
    reload,
  };
}
