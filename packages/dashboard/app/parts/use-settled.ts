import { useEffect, useState } from "react";

/** What is typed, once nothing more has been typed for a moment. */
export function useSettled(value: string, pauseMs = 250): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value, pauseMs]);
  return settled;
}
