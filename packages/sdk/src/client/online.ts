interface Page {
  navigator?: { onLine?: boolean };
  addEventListener?: (type: string, listener: () => void) => void;
  removeEventListener?: (type: string, listener: () => void) => void;
}

export interface Online {
  isOnline(): boolean;
  /** Aborted while there is no network. */
  signal(): AbortSignal;
  /** Resolves at once where there is a network. */
  untilOnline(signal?: AbortSignal): Promise<void>;
  close(): void;
}

/** Whether there is a network at all, as far as the browser knows; elsewhere there always is. */
export function watchOnline(onChange: () => void): Online {
  const page = globalThis as Page;
  const isOnline = () => page.navigator?.onLine !== false;
  let offline = new AbortController();
  if (!isOnline()) offline.abort();
  let waiting: (() => void)[] = [];

  const change = () => {
    if (isOnline()) {
      if (offline.signal.aborted) offline = new AbortController();
      for (const go of waiting.splice(0)) go();
    } else offline.abort();
    onChange();
  };
  page.addEventListener?.("online", change);
  page.addEventListener?.("offline", change);

  return {
    isOnline,
    signal: () => offline.signal,
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
