import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";

// On a server there is nothing to lay out, and older Reacts complain.
const useEffectInTime = typeof document === "undefined" ? useEffect : useLayoutEffect;

/** The component that it is a part of; able to take the focus from then on. */
export function findRoot(leaving: HTMLElement): HTMLElement | null {
  const root = leaving.closest<HTMLElement>(".us-ui");
  root?.setAttribute("tabindex", "-1");
  return root;
}

/** Hands the focus on when the element that has it goes; browsers would let it fall to the page. */
export function useHeirOfFocus<Leaving extends HTMLElement>(
  findHeir: (leaving: Leaving) => HTMLElement | null,
): RefObject<Leaving | null> {
  const ref = useRef<Leaving>(null);
  useEffectInTime(
    () => () => {
      // Still on the page at this moment.
      const leaving = ref.current;
      if (leaving?.contains(document.activeElement)) findHeir(leaving)?.focus();
    },
    [findHeir],
  );
  return ref;
}
