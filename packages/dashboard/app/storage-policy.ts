const asked = "upstow-storage-origins";

/**
 * The page may send files only to the buckets that its policy names, and the policy came with the page. Where there
 * is another bucket by now, or the page came before its reader had signed in, it is loaded once more.
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
