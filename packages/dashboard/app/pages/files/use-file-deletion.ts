import { useEffect, useRef, useState } from "react";
import { callApi } from "../../api.ts";
import type { FoundFile } from "./found-file.ts";

const undoMs = 10_000;

/** All that a search finds, as counted at a moment. */
export interface Matching {
  /** The search, as the server expects it. */
  query: string;
  count: number;
  bytes: number;
  /** Smaller than this are the ids of the files that there were. */
  before: string;
}

/** As the server is told what to do something with. */
export function toBody({ query, before }: Matching): Record<string, string> {
  return { ...Object.fromEntries(new URLSearchParams(query)), before };
}

export type Deletion = { ids: ReadonlySet<string> } | Matching;

interface Waiting {
  deletion: Deletion;
  timer: ReturnType<typeof setTimeout>;
}

export interface FileDeletion {
  /** What will be deleted when the window closes. */
  waiting: Deletion | null;
  /** Whether to hide a file from search results: it is deleted, or about to be. */
  hides: (file: FoundFile, query: string) => boolean;
  error: unknown;
  start: (deletion: Deletion) => void;
  undo: () => void;
}

interface Reactions {
  onDeleted: () => void;
  /** Those that were not named: what is shown may be among them. */
  onMatchingDeleted: () => void;
}

/** Nothing is deleted while it can still be undone: the call is made when the window closes or the page is left. */
export function useFileDeletion(api: string, reactions: Reactions): FileDeletion {
  const [waiting, setWaiting] = useState<Deletion | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<Deletion>>(new Set());
  const [error, setError] = useState<unknown>(null);
  const current = useRef<Waiting | null>(null);
  const react = useRef(reactions);
  react.current = reactions;

  const show = (deletion: Deletion) =>
    setHidden((before) => new Set([...before].filter((other) => other !== deletion)));

  const take = (): Deletion | null => {
    const taken = current.current;
    current.current = null;
    setWaiting(null);
    if (taken === null) return null;
    clearTimeout(taken.timer);
    return taken.deletion;
  };

  const send = () => {
    const deletion = take();
    if (deletion === null) return;
    const [path, body] =
      "ids" in deletion ? ["files/delete", { ids: [...deletion.ids] }] : ["search/delete", toBody(deletion)];
    // Sent to the end even if the page is left at this moment; 2,000 ids fit into what browsers allow for that.
    callApi("POST", `${api}/${path}`, body, { keepalive: true }).then(
      () => {
        react.current.onDeleted();
        if (!("ids" in deletion)) react.current.onMatchingDeleted();
      },
      (problem) => {
        setError(problem);
        show(deletion);
      },
    );
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: only leaving the page sends early
  useEffect(() => {
    window.addEventListener("pagehide", send);
    return () => {
      window.removeEventListener("pagehide", send);
      send();
    };
  }, []);

  return {
    waiting,
    hides: (file, query) =>
      [...hidden].some((deletion) =>
        "ids" in deletion ? deletion.ids.has(file.id) : deletion.query === query && file.id < deletion.before,
      ),
    error,
    start(deletion) {
      send();
      setError(null);
      current.current = { deletion, timer: setTimeout(send, undoMs) };
      setWaiting(deletion);
      setHidden((before) => new Set([...before, deletion]));
    },
    undo() {
      const deletion = take();
      if (deletion !== null) show(deletion);
    },
  };
}
