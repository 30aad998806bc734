/** Most of what is encoded has nothing to encode, and looking costs a fraction of encoding. */
const unreserved = /^[\w.~-]*$/;

/** RFC 3986: everything but the unreserved characters, which is what signatures are made over. */
export function encodeUri(text: string): string {
  if (unreserved.test(text)) return text;
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, percentEncode);
}

/** An object's path: the slashes stay, even doubled ones and those at the ends. */
export function encodePath(key: string): string {
  return key.split("/").map(encodeUri).join("/");
}

/** Sorted by name, as signatures want it. */
export function encodeQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encodeUri(name)}=${encodeUri(value)}`)
    .sort()
    .join("&");
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
