import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";

interface MenuProps {
  label: string;
  items: { label: string; onSelect: () => void }[];
  children: ReactNode;
}

/** A button with a list of actions: arrow keys move, Escape and a click elsewhere close it. */
export function Menu({ label, items, children }: MenuProps) {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const frame = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const itemsOf = () => [...(frame.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
  useEffect(() => {
    if (!isOpen) return;
    frame.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const close = ({ target }: Event) => {
      if (target instanceof Node && frame.current?.contains(target) !== true) setOpen(false);
    };
    document.addEventListener("pointerdown", close);
    return () => document.removeEventListener("pointerdown", close);
  }, [isOpen]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isOpen) return;
    if (event.key === "Tab") setOpen(false);
    if (event.key === "Escape") {
      setOpen(false);
      button.current?.focus();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const all = itemsOf();
    const index = all.indexOf(document.activeElement as HTMLElement);
    all[(index + step + all.length) % all.length]?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the button and the items
    <span className="menu-frame" ref={frame} onKeyDown={onKeyDown}>
      <button
        ref={button}
        type="button"
        className="square"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {children}
      </button>
      <span id={id} role="menu" aria-label={label} className="menu-list" hidden={!isOpen}>
        {items.map((item) => (
          <button
            type="button"
            role="menuitem"
            key={item.label}
            tabIndex={-1}
            className="quiet"
            onClick={() => {
              setOpen(false);
              button.current?.focus();
              item.onSelect();
            }}
          >
            {item.label}
          </button>
        ))}
      </span>
    </span>
  );
}
