import { type ReactNode, useEffect, useRef } from "react";
import { SafeText, showHidden } from "./safe-text.tsx";

/** The browser's own modal: it keeps the focus inside, and Escape closes it. */
export function Dialog(props: { title: string; onClose: () => void; wide?: boolean; children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null);
  const opener = useRef<Element>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (dialog !== null && !dialog.open) {
      opener.current = document.activeElement;
      dialog.showModal();
      dialog.querySelector<HTMLElement>("input, select")?.focus();
    }
    return () => giveFocusBack(opener.current);
  }, []);
  return (
    <dialog
      ref={ref}
      className={props.wide ? "wide" : undefined}
      aria-label={showHidden(props.title)}
      // In React the event bubbles: a dialog inside this one may have closed.
      onClose={({ target, currentTarget }) => target === currentTarget && props.onClose()}
    >
      <header>
        <h2>
          <SafeText text={props.title} />
        </h2>
        <button type="button" className="quiet" aria-label="Close" onClick={() => ref.current?.close()}>
          ✕
        </button>
      </header>
      {props.children}
    </dialog>
  );
}

/** Browsers do it for a dialog that is closed, and not for one that goes because its work is done. */
export function giveFocusBack(opener: Element | null): void {
  if (document.activeElement !== document.body) return;
  const heir = opener?.isConnected ? opener : document.getElementById("content");
  if (heir instanceof HTMLElement) heir.focus();
}
