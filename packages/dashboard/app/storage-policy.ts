const asked = "upstow-storage-origins";

/**
 * The page may send files only to the buckets listed in its policy, which was sent with the page. If there is a new
 * bucket, or the page was loaded before signing in, reload it once.
 */
export function renewPolicyFor(origins: string[]): void {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="storage-origins"]');
  const named = meta?.content.split(" ") ?? [];
  const missing = origins.filter((origin) => !named.includes(origin)).join(" ");
  if (missing === "") {
    sessionStorage.removeItem(asked);
    return;
  }
  // Never twice for the same: a page that comes back without them must not go round for ever.
  if (sessionStorage.getItem(asked) === missing) return;
  sessionStorage.setItem(asked, missing);
  // A navigation that this page begins brings the cookie along, which a reload after a link from elsewhere may not.
  location.replace(location.pathname + location.search);
}
