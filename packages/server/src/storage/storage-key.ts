import { STORAGE_KEY_MAX_BYTES } from "@upstow/contract";

/** `<project>/<route>/<unique>/<name>`. Only a name for humans and URLs: no path on disk is made from it. */
export function buildStorageKey(
  projectId: string,
  routeSlug: string,
  uniqueId: string,
  fileName: string,
): string {
  const folder = `${projectId}/${routeSlug}/${uniqueId}/`;
  return folder + cutName(safeName(fileName), STORAGE_KEY_MAX_BYTES - Buffer.byteLength(folder));
}

/** Letters of every script stay; what could act in a path or a header does not, nor what a bucket's XML cannot hold. */
function safeName(fileName: string): string {
  if (/^\w[\w.-]*$/.test(fileName)) return fileName;
  return fileName
    .normalize("NFC")
    .replaceAll(/[/\\\p{Cc}\uFFFE\uFFFF]/gu, "_")
    .replace(/^\.+/, (dots) => "_".repeat(dots.length));
}

/** Cuts the stem, not the extension, and never inside a character. */
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

const needsNoEncoding = /^[\w.~!*'()/-]*$/;

/** The path under which a key is served: every segment percent-encoded, the slashes kept. */
export function encodeKey(key: string): string {
  if (needsNoEncoding.test(key)) return key;
  return key.split("/").map(encodeURIComponent).join("/");
}

/** Where presigned URLs of the embedded store begin. */
export const uploadPath = "/u/";
