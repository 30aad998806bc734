import type { ReactNode } from "react";

/** A page of somebody who is not in yet: nothing but the name of the house and one thing to do. */
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
