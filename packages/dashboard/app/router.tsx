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

/** What stands behind the "?". */
export function useQuery(): URLSearchParams {
  const search = useSyncExternalStore(subscribe, () => location.search);
  return useMemo(() => new URLSearchParams(search), [search]);
}

export function goTo(path: string, options: { replace?: boolean } = {}): void {
  const url = base + path;
  if (options.replace === true) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  changed.dispatchEvent(new Event("change"));
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
