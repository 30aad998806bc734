import { useEffect, useRef, useState } from "react";
import { callApi } from "../../api.ts";

const undoMs = 10_000;

interface Waiting {
  ids: string[];
  timer: ReturnType<typeof setTimeout>;
}

export interface FileDeletion {
  /** How many files will be deleted when the window closes. */
  waitingCount: number;
  /** Files that are not to be shown: they are gone, or will be. */
  hidden: ReadonlySet<string>;
  error: unknown;
  start: (ids: string[]) => void;
  undo: () => void;
}

/** Nothing is deleted while it can still be undone: the call is made when the window closes or the page is left. */
export function useFileDeletion(api: string): FileDeletion {
  const [waitingCount, setWaitingCount] = useState(0);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [error, setError] = useState<unknown>(null);
  const current = useRef<Waiting | null>(null);

  const show = (ids: string[]) =>
    setHidden((before) => new Set([...before].filter((id) => !ids.includes(id))));

  const take = (): string[] | null => {
    const taken = current.current;
    current.current = null;
    setWaitingCount(0);
    if (taken === null) return null;
    clearTimeout(taken.timer);
    return taken.ids;
  };

  const send = () => {
    const ids = take();
    if (ids === null) return;
    // Sent to the end even if the page is left at this moment; 2,000 ids fit into what browsers allow for that.
    callApi("POST", `${api}/files/delete`, { ids }, { keepalive: true }).catch((problem) => {
      setError(problem);
      show(ids);
    });
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
    waitingCount,
    hidden,
    error,
    start(ids) {
      send();
      setError(null);
      current.current = { ids, timer: setTimeout(send, undoMs) };
      setWaitingCount(ids.length);
      setHidden((before) => new Set([...before, ...ids]));
    },
    undo() {
      const ids = take();
      if (ids !== null) show(ids);
    },
  };
}
