import { Icon } from "@upstow/kit/icon";
import { xIcon } from "@upstow/kit/icons";
import { createContext, type ReactNode, useEffect, useRef } from "react";
import { giveFocusTo } from "./keep-focus.ts";
import { SafeText, showHidden } from "./safe-text.tsx";

interface DialogProps {
  title: string;
  onClose: () => void;
  wide?: boolean;
  /** At the edge of the page, as high as the window. */
  sheet?: boolean;
  /** Beside the button that closes it. */
  tools?: ReactNode;
  children: ReactNode;
}

/** Closes the dialog that a component is in; null outside of one. */
export const CloseDialog = createContext<(() => void) | null>(null);

/** The browser's own modal: it keeps the focus inside, and Escape closes it. */
export function Dialog(props: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const opener = useRef<Element>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (dialog !== null && !dialog.open) {
      opener.current = document.activeElement;
      dialog.showModal();
      // A sheet is for reading: without this, the browser would focus its first button and show that.
      if (dialog.classList.contains("sheet")) dialog.focus();
      else dialog.querySelector<HTMLElement>("input, select, textarea")?.focus();
    }
    return () => giveFocusBack(opener.current);
  }, []);
  const close = () => ref.current?.close();
  return (
    <dialog
      ref={ref}
      tabIndex={-1}
      className={props.sheet ? "sheet" : props.wide ? "wide" : undefined}
      closedby={props.sheet ? "any" : undefined}
      aria-label={showHidden(props.title)}
      // In React the event bubbles: a dialog inside this one may have closed.
      onClose={({ target, currentTarget }) => target === currentTarget && props.onClose()}
    >
      <header>
        <h2 title={showHidden(props.title)}>
          <SafeText text={props.title} />
        </h2>
        <span className="line tools">
          {props.tools}
          <button type="button" className="quiet square" aria-label="Close" onClick={close}>
            <Icon of={xIcon} />
          </button>
        </span>
      </header>
      <CloseDialog value={close}>{props.children}</CloseDialog>
    </dialog>
  );
}

/** Browsers do it for a dialog that is closed, and not for one that goes because its work is done. */
export function giveFocusBack(opener: Element | null): void {
  if (document.activeElement === document.body) giveFocusTo(opener);
}
