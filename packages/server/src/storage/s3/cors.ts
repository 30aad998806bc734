import type { CorsCalls, CorsRule } from "./bucket-calls.ts";
import type { Exchange } from "./exchange.ts";

/** What browsers need to PUT to presigned URLs, to read the etag of a part, and to follow redirects to files. */
export const uploadCorsRule: CorsRule = {
  allowedOrigins: ["*"],
  allowedMethods: ["PUT", "GET", "HEAD"],
  // By name, because not every store accepts a wildcard here.
  allowedHeaders: ["content-type", "range", "if-match", "if-none-match", "if-range", "if-modified-since"],
  exposeHeaders: ["ETag", "Content-Range"],
  maxAgeSec: 3600,
};

/** Adds our rule to the existing ones. */
export async function openToBrowsers(cors: CorsCalls): Promise<void> {
  const rules = await cors.getRules();
  await cors.setRules([...rules, uploadCorsRule]);
}

const origin = "https://upstow.invalid";
const contentType = "text/plain";
const deadlineMs = 5000;

/**
 * Does what a page on another origin would do with a presigned URL, because rules can exist in more places than a store
 * reports. Uploads three bytes.
 */
export async function letsBrowsersUpload(
  exchange: Exchange,
  presignedUrl: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { pathname, search, host } = new URL(presignedUrl);
  const path = pathname + search;
  const preflight = await exchange.fetch({
    method: "OPTIONS",
    path,
    headers: {
      host,
      origin,
      "access-control-request-method": "PUT",
      "access-control-request-headers": "content-type",
    },
    deadlineMs,
    signal,
  });
  const listed = (header: string | string[] | undefined) =>
    String(header ?? "")
      .toLowerCase()
      .split(",")
      .map((name) => name.trim());
  const allowed = listed(preflight.headers["access-control-allow-headers"]);
  if (preflight.status >= 300 || !(allowed.includes("content-type") || allowed.includes("*"))) return false;

  const put = await exchange.fetch({
    method: "PUT",
    path,
    headers: { host, origin, "content-type": contentType, "content-length": "3" },
    body: Buffer.from("abc"),
    deadlineMs,
    signal,
  });
  const allowedOrigin = put.headers["access-control-allow-origin"];
  const exposed = listed(put.headers["access-control-expose-headers"]);
  return (
    put.status === 200 &&
    (allowedOrigin === "*" || allowedOrigin === origin) &&
    (exposed.includes("etag") || exposed.includes("*"))
  );
}
