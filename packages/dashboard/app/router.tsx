import { type ComponentProps, type MouseEvent, useMemo, useSyncExternalStore } from "react";

const changed = new EventTarget();
const base = "/dashboard";

function subscribe(listener: () => void): () => void {
  changed.addEventListener("change", listener);
  window.addEventListener("popstate", listener);
  return () => {
    changed.removeEventListener("change", listener);
    window.removeEventListener("popstate", listener);
  };
}

/** The path below /dashboard, such as "/account". */
export function usePath(): string {
  return useSyncExternalStore(
    subscribe,
    () => location.pathname.slice(base.length).replace(/\/$/, "") || "/",
  );
}

/** The query string, without the "?". */
export function useQuery(): URLSearchParams {
  const search = useSyncExternalStore(subscribe, () => location.search);
  return useMemo(() => new URLSearchParams(search), [search]);
}

/** The page's history state; it survives a reload. */
interface Step {
  /** The page before is the one that this one closes to. */
  isOver: boolean;
}

export function goTo(path: string, options: { replace?: boolean; isOver?: boolean } = {}): void {
  const url = base + path;
  const step: Step = { isOver: options.isOver === true };
  if (options.replace === true) history.replaceState(history.state, "", url);
  else history.pushState(step, "", url);
  changed.dispatchEvent(new Event("change"));
}

/** Closes an overlay by going back to its page, so that the history contains the page once. */
export function closeTo(path: string): void {
  if ((history.state as Step | null)?.isOver === true) history.back();
  else goTo(path, { replace: true });
}

export function Link({ to, ...rest }: ComponentProps<"a"> & { to: string }) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    const opensElsewhere = event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0;
    rest.onClick?.(event);
    if (opensElsewhere || event.defaultPrevented) return;
    event.preventDefault();
    goTo(to);
  };
  return <a {...rest} href={base + to} onClick={follow} />;
}
