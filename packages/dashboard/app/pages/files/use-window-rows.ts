import { type RefObject, useLayoutEffect, useState } from "react";

const overscan = 12;

/**
 * Which rows of a list of equally high rows are near the screen. Only those are drawn: a list of any length costs
 * as much as one screen.
 */
export function useWindowRows(ref: RefObject<HTMLElement | null>, count: number, rowHeightPx: number) {
  const [range, setRange] = useState({ first: 0, last: 0 });
  // Before it is painted, or what stands below would jump.
  useLayoutEffect(() => {
    const look = () => {
      const top = ref.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / rowHeightPx) - overscan);
      const last = Math.min(count, Math.ceil((innerHeight - top) / rowHeightPx) + overscan);
      setRange((before) => (before.first === first && before.last === last ? before : { first, last }));
    };
    look();
    window.addEventListener("scroll", look, { passive: true });
    window.addEventListener("resize", look);
    return () => {
      window.removeEventListener("scroll", look);
      window.removeEventListener("resize", look);
    };
  }, [ref, count, rowHeightPx]);
  const last = Math.min(range.last, count);
  const first = Math.min(range.first, last);
  return { first, last, beforePx: first * rowHeightPx, afterPx: (count - last) * rowHeightPx };
}
