import type { Deps } from "../deps.ts";
import { mediaType } from "../files/uploads/media-type.ts";

const rasterImages = new Set([
  "png",
  "apng",
  "jpeg",
  "jpg",
  "pjpeg",
  "gif",
  "webp",
  "avif",
  "bmp",
  "tiff",
  "heic",
  "heif",
  "jxl",
  "x-icon",
  "vnd.microsoft.icon",
]);

const parameters = /^(?:[ \t]*;[ \t]*[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[^",\\]*"))*[ \t]*$/;

const imagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'; sandbox";
const sealedPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

export interface TypePolicy {
  disposition: "inline" | "attachment";
  /** Null if the browser's own viewer must not be sandboxed: a sandbox breaks the PDF viewer. */
  contentSecurityPolicy: string | null;
}

/** Only types that cannot run scripts are shown in the browser; the rest is downloaded, with a sandbox. */
export function typePolicy(contentType: string): TypePolicy {
  const type = mediaType(contentType);
  const [family = "", subtype = ""] = type.split("/");
  if (type === "application/pdf") return { disposition: "inline", contentSecurityPolicy: null };
  const isSafe =
    ["audio", "video"].includes(family) ||
    type === "text/plain" ||
    (family === "image" && rasterImages.has(subtype));
  return isSafe
    ? { disposition: "inline", contentSecurityPolicy: imagePolicy }
    : { disposition: "attachment", contentSecurityPolicy: sealedPolicy };
}

/**
 * The content type to send. If there are several separated by commas, browsers use the last:
 * "application/pdf;,text/html" would be a page. So parameters are kept only if all of them are plain name=value
 * pairs.
 */
export function servedType(contentType: string): string {
  const type = contentType.split(";", 1)[0] ?? "";
  return parameters.test(contentType.slice(type.length)) ? contentType : type.trim();
}

/** RFC 6266 with the RFC 8187 form for names beyond ASCII. Nothing in the name can end the header or reverse its text. */
export function contentDisposition(kind: "inline" | "attachment", fileName: string): string {
  const name = fileName
    .replaceAll(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "")
    .replaceAll(/[/\\]/g, "_");
  const ascii = name.replaceAll(/[^\x20-\x7e]|[%"]/g, "_");
  const extended = encodeURIComponent(name).replaceAll(/['()*]/g, percentEncode);
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${extended}`;
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

// Deletions take effect immediately, so URLs issued before must not stay valid much longer.
const expiresInSec = 60;

// Buckets and the proxies in front of them reject request lines over 8 KB, and a long name is in the URL twice.
const redirectMaxLength = 7_500;

/** The bucket's URL of the object; null if the service sends it. */
export function findRedirect(
  { config, store }: Pick<Deps, "config" | "store">,
  object: { storeKey: string; contentType: string; fileName: string; isDownload?: boolean },
  leftSec: number,
): string | null {
  // A signature lasts at least a second.
  if (config.s3?.delivery !== "redirect" || leftSec < 1) return null;
  const disposition = object.isDownload ? "attachment" : typePolicy(object.contentType).disposition;
  const headers = {
    contentType: servedType(object.contentType),
    contentDisposition: contentDisposition(disposition, object.fileName),
  };
  const expiresIn = Math.min(expiresInSec, leftSec);
  const url = store.directReads?.presignGet(object.storeKey, { ...headers, expiresInSec: expiresIn }) ?? null;
  return url !== null && url.length <= redirectMaxLength ? url : null;
}
