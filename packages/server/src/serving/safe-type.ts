import { mediaType } from "../files/uploads/rules.ts";

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
  /** Null where the browser's own viewer needs freedom: a sandbox breaks the PDF one. */
  contentSecurityPolicy: string | null;
}

/** Only what cannot run script is shown in the browser; the rest is downloaded, under a sandbox. */
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
 * The type as it is sent. Where commas divide several, browsers take the last: "application/pdf;,text/html" would
 * be a page. So parameters stay only if all of them are plainly name=value.
 */
export function servedType(contentType: string): string {
  const type = contentType.split(";", 1)[0] ?? "";
  return parameters.test(contentType.slice(type.length)) ? contentType : type.trim();
}
