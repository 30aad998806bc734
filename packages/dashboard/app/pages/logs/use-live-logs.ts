import type { Log } from "@upstow/contract";
import { useCallback, useEffect, useRef, useState } from "react";
import { checkSession } from "../../api.ts";
import { useAgainOnEntry } from "../../load.ts";

export type Connection = "paused" | "connecting" | "live" | "stopped";

/** Entries as they happen. The browser connects again by itself, and says where it had come to. */
export function useLiveLogs(
  path: string,
  isOn: boolean,
  onEntry: (entry: Log) => void,
): { connection: Connection; retry: () => void } {
  const [connection, setConnection] = useState<Connection>("connecting");
  const [tries, setTries] = useState(0);
  const receive = useRef(onEntry);
  receive.current = onEntry;

  // biome-ignore lint/correctness/useExhaustiveDependencies: each try connects anew
  useEffect(() => {
    if (!isOn) {
      setConnection("paused");
      return;
    }
    setConnection("connecting");
    const source = new EventSource(`/dashboard/api${path}`);
    source.onopen = () => setConnection("live");
    source.onmessage = (event) => receive.current(JSON.parse(event.data));
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) {
        setConnection("connecting");
        return;
      }
      setConnection("stopped");
      // Browsers do not tell why.
      checkSession();
    };
    return () => source.close();
  }, [path, isOn, tries]);

  const retry = useCallback(() => setTries((before) => before + 1), []);
  useAgainOnEntry(connection === "stopped", retry);
  return { connection, retry };
}
