interface Page {
  navigator?: { onLine?: boolean };
  addEventListener?: (type: string, listener: () => void) => void;
  removeEventListener?: (type: string, listener: () => void) => void;
}

export interface Online {
  isOnline(): boolean;
  /** Aborted while offline. */
  signal(): AbortSignal;
  /** Resolves immediately when online. */
  untilOnline(signal?: AbortSignal): Promise<void>;
  close(): void;
}

/** Whether the browser believes it is online; other runtimes always are. */
export function watchOnline(onChange: () => void): Online {
  const page = globalThis as Page;
  const isOnline = () => page.navigator?.onLine !== false;
  let offline = new AbortController();
  if (!isOnline()) offline.abort();
  let waiting: (() => void)[] = [];

  /** A browser is online a moment before its event says so. */
  const signal = () => {
    if (isOnline() && offline.signal.aborted) offline = new AbortController();
    return offline.signal;
  };

  const change = () => {
    if (isOnline()) {
      for (const go of waiting.splice(0)) go();
    } else offline.abort();
    onChange();
  };
  page.addEventListener?.("online", change);
  page.addEventListener?.("offline", change);

  return {
    isOnline,
    signal,
    async untilOnline(signal) {
      if (isOnline()) return;
      await new Promise<void>((resolve, reject) => {
        waiting.push(resolve);
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      });
    },
    close() {
      page.removeEventListener?.("online", change);
      page.removeEventListener?.("offline", change);
      waiting = [];
    },
  };
}
