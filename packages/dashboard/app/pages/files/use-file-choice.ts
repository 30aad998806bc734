import { useState } from "react";
import { callApi } from "../../api.ts";
import { useAction } from "../../parts/use-action.ts";
import type { FoundFile } from "./found-file.ts";
import type { Matching } from "./use-file-deletion.ts";

/** As many as one call deletes by their ids. */
export const mostChosen = 2_000;
const none: ReadonlySet<string> = new Set();

export interface FileChoice {
  chosen: ReadonlySet<string>;
  /** All that match, loaded or not; null where files are chosen one by one. */
  matching: Matching | null;
  error: unknown;
  isCounting: boolean;
  choose: (files: FoundFile[], isChosen: boolean) => void;
  chooseMatching: () => void;
  clear: () => void;
}

export function useFileChoice(api: string, query: string, files: FoundFile[]): FileChoice {
  const [picked, setPicked] = useState({ query, ids: none });
  const [all, setAll] = useState<Matching | null>(null);
  const { error, isBusy, run } = useAction();
  const matching = all?.query === query ? all : null;
  // A selection from another search is no longer visible.
  const ids = picked.query === query ? picked.ids : none;
  const chosen = matching === null ? ids : new Set(files.map((file) => file.id));
  return {
    chosen,
    matching,
    error,
    isCounting: isBusy,
    choose(some, isChosen) {
      const changed = new Set(some.map((file) => file.id));
      const others = [...chosen].filter((id) => !changed.has(id));
      setAll(null);
      setPicked({ query, ids: new Set((isChosen ? [...others, ...changed] : others).slice(0, mostChosen)) });
    },
    chooseMatching: () =>
      void run(async () => {
        setAll({ query, ...(await countMatching(api, query)) });
      }),
    clear() {
      setAll(null);
      setPicked({ query, ids: none });
    },
  };
}

interface Counted {
  count: number;
  bytes: number;
  before: string;
  nextCursor: string | null;
}

/** A long count arrives in parts. */
async function countMatching(api: string, query: string): Promise<Omit<Matching, "query">> {
  const path = `${api}/search/count?${query}`;
  const first = await callApi<Counted>("GET", path);
  let { count, bytes, nextCursor } = first;
  while (nextCursor !== null) {
    const part = await callApi<Counted>("GET", `${path}&cursor=${nextCursor}`);
    count += part.count;
    bytes += part.bytes;
    nextCursor = part.nextCursor;
  }
  return { count, bytes, before: first.before };
}
