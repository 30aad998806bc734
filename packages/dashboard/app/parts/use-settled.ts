import { useEffect, useState } from "react";

/** The typed text, once typing has paused. */
export function useSettled(value: string, pauseMs = 250): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value, pauseMs]);
  return settled;
}
