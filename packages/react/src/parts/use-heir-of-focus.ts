import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";

// There is no layout on a server, and older React versions warn about it.
const useEffectInTime = typeof document === "undefined" ? useEffect : useLayoutEffect;

/** The surrounding component; focusable from then on. */
export function findRoot(leaving: HTMLElement): HTMLElement | null {
  const root = leaving.closest<HTMLElement>(".us-ui");
  root?.setAttribute("tabindex", "-1");
  return root;
}

/** Moves the focus on when the focused element is removed; browsers would reset it to the page. */
export function useHeirOfFocus<Leaving extends HTMLElement>(
  findHeir: (leaving: Leaving) => HTMLElement | null,
): RefObject<Leaving | null> {
  const ref = useRef<Leaving>(null);
  useEffectInTime(
    () => () => {
      // Still in the document at this point.
      const leaving = ref.current;
      if (leaving?.contains(document.activeElement)) findHeir(leaving)?.focus();
    },
    [findHeir],
  );
  return ref;
}
