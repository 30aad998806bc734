import { type ReactNode, useEffect, useRef } from "react";
import { SafeText, showHidden } from "./safe-text.tsx";

/** The browser's own modal: it keeps the focus inside, and Escape closes it. */
export function Dialog(props: { title: string; onClose: () => void; wide?: boolean; children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (dialog === null || dialog.open) return;
    dialog.showModal();
    dialog.querySelector<HTMLElement>("input, select")?.focus();
  }, []);
  return (
    <dialog
      ref={ref}
      className={props.wide ? "wide" : undefined}
      aria-label={showHidden(props.title)}
      onClose={props.onClose}
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
