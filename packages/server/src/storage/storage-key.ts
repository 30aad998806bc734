import { STORAGE_KEY_MAX_BYTES } from "@upstow/contract";

/** `<project>/<route>/<unique>/<name>`. Only a name for humans and URLs, never used as a path on disk. */
export function buildStorageKey(
  projectId: string,
  routeSlug: string,
  uniqueId: string,
  fileName: string,
): string {
  const folder = `${projectId}/${routeSlug}/${uniqueId}/`;
  return folder + cutName(safeName(fileName), STORAGE_KEY_MAX_BYTES - Buffer.byteLength(folder));
}

/** Keeps letters of every script; drops characters with a meaning in paths or headers, or not allowed in XML. */
function safeName(fileName: string): string {
  if (/^\w[\w.-]*$/.test(fileName)) return fileName;
  return fileName
    .normalize("NFC")
    .replaceAll(/[/\\\p{Cc}\uFFFE\uFFFF]/gu, "_")
    .replace(/^\.+/, (dots) => "_".repeat(dots.length));
}

/** Truncates the stem, not the extension, and never inside a character. */
function cutName(name: string, maxBytes: number): string {
  if (Buffer.byteLength(name) <= maxBytes) return name;
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 && Buffer.byteLength(name.slice(dot)) <= 64 ? name.slice(dot) : "";
  let room = maxBytes - Buffer.byteLength(extension);
  let stem = "";
  for (const character of name.slice(0, name.length - extension.length)) {
    room -= Buffer.byteLength(character);
    if (room < 0) break;
    stem += character;
  }
  return stem + extension;
}

/** Prefix of the store keys of private objects. */
export const apartMark = "private/";

/**
 * The key under which the store holds a file. Private files have their own prefix, so that a CDN in front of a bucket's
 * public files never reaches them.
 */
export function objectKey({ key, stored_apart }: { key: string; stored_apart: number }): string {
  return stored_apart === 0 ? key : apartMark + key;
}

interface Readability {
  access: "public" | "private";
  scan: string | null;
}

/** The value of `stored_apart` for who may read it: files that wait for their virus scan are kept with private ones. */
export function placeFor({ access, scan }: Readability): 0 | 1 {
  return access === "private" || scan === "pending" ? 1 : 0;
}

export function isApart(storeKey: string): boolean {
  return storeKey.startsWith(apartMark);
}

/** The file's key, without the prefix. */
export function keyOfObject(storeKey: string): string {
  return isApart(storeKey) ? storeKey.slice(apartMark.length) : storeKey;
}

/** The id of the file: the third part of its key, read without splitting it, because this happens on every read of a file. */
export function fileIdIn(key: string): string {
  const start = key.indexOf("/", key.indexOf("/") + 1) + 1;
  const end = key.indexOf("/", start);
  return start === 0 ? "" : key.slice(start, end === -1 ? undefined : end);
}

const needsNoEncoding = /^[\w.~!*'()/-]*$/;

/** The path under which a key is served: every segment percent-encoded, the slashes kept. */
export function encodeKey(key: string): string {
  if (needsNoEncoding.test(key)) return key;
  return key.split("/").map(encodeURIComponent).join("/");
}

/** The path prefix of the embedded store's presigned URLs. */
export const uploadPath = "/u/";
