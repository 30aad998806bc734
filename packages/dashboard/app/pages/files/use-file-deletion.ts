import type { FileListItem } from "@upstow/contract";
import { useEffect, useRef, useState } from "react";
import { callApi } from "../../api.ts";
import type { Pages } from "../../load.ts";

const undoMs = 6000;
const mostAtOnce = 100;

interface Waiting {
  files: FileListItem[];
  send: () => void;
  timer: ReturnType<typeof setTimeout>;
}

export interface FileDeletion {
  waiting: FileListItem[];
  error: unknown;
  start: (files: FileListItem[]) => void;
  undo: () => void;
}

/** Nothing is deleted while it can still be undone: the call is made when the window closes or the page is left. */
export function useFileDeletion(api: string, list: Pages<FileListItem>): FileDeletion {
  const [waiting, setWaiting] = useState<FileListItem[]>([]);
  const [error, setError] = useState<unknown>(null);
  const current = useRef<Waiting | null>(null);

  const close = () => {
    const closing = current.current;
    current.current = null;
    setWaiting([]);
    if (closing === null) return null;
    clearTimeout(closing.timer);
    return closing;
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: only leaving the page sends early
  useEffect(() => {
    const leave = () => close()?.send();
    window.addEventListener("pagehide", leave);
    return () => {
      window.removeEventListener("pagehide", leave);
      leave();
    };
  }, []);

  return {
    waiting,
    error,
    start(files) {
      close()?.send();
      setError(null);
      const send = () => {
        deleteAll(api, files).catch((problem) => {
          setError(problem);
          list.reload();
        });
      };
      const timer = setTimeout(() => close()?.send(), undoMs);
      current.current = { files, send, timer };
      setWaiting(files);
      const ids = new Set(files.map((file) => file.id));
      list.setItems((items) => items.filter((item) => !ids.has(item.id)));
    },
    undo() {
      if (close() !== null) list.reload();
    },
  };
}

async function deleteAll(api: string, files: FileListItem[]): Promise<void> {
  for (let from = 0; from < files.length; from += mostAtOnce) {
    const keys = files.slice(from, from + mostAtOnce).map((file) => file.key);
    await callApi("DELETE", `${api}/files`, { keys });
  }
}
