import type { ReactNode } from "react";

/** A page for signed-out users: only the product's name and one form. */
export function Alone({ children }: { children: ReactNode }) {
  return (
    <main className="alone">
      <p className="house">
        <img src="/assets/icon.svg" alt="" width="28" height="28" /> Upstow
      </p>
      {children}
    </main>
  );
}
