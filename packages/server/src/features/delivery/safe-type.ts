import { mediaType } from "../uploads/rules.ts";

const rasterImages = new Set([
  "png",
  "apng",
  "jpeg",
  "gif",
  "webp",
  "avif",
  "bmp",
  "x-icon",
  "vnd.microsoft.icon",
]);

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
