import { type ReactNode, useEffect, useRef } from "react";
import { giveFocusBack } from "./dialog.tsx";

/** Hides the page and its dialogs without unmounting them, until it is removed. */
export function Cover({ children }: { children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null);
  const below = useRef<Element>(null);
  useEffect(() => {
    if (ref.current?.open === false) {
      below.current = document.activeElement;
      ref.current.showModal();
    }
    return () => giveFocusBack(below.current);
  }, []);
  return (
    // Escape must not reach a dialog below. Browsers that do not know `closedby` close this one, which opens again.
    <dialog ref={ref} className="cover" closedby="none" onClose={(event) => event.currentTarget.showModal()}>
      {children}
    </dialog>
  );
}
