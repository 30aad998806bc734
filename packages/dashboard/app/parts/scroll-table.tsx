import type { ReactNode } from "react";

/** A table that may be wider than the screen: it scrolls by itself, by keyboard too. */
export function ScrollTable({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus the arrow keys could not scroll it
    <section className="table" aria-label={label} tabIndex={0}>
      <table>{children}</table>
    </section>
  );
}
