import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { listFonts, readKitStyles } from "@upstow/kit";

const folder = fileURLToPath(new URL("./assets/", import.meta.url));
const css = "text/css; charset=utf-8";
const javascript = "text/javascript; charset=utf-8";
const read = (name: string) => readFileSync(folder + name, "utf8");

/** What pages load, by path: its type and where its bytes come from. */
const sources = new Map<string, { type: string; read: () => string | Buffer }>([
  ["/assets/site.css", { type: css, read: () => readKitStyles() + read("site.css") }],
  ["/assets/site.js", { type: javascript, read: () => read("site.js") }],
  ["/assets/theme.js", { type: javascript, read: () => read("theme.js") }],
  ["/assets/drop.js", { type: javascript, read: () => read("drop.js") }],
  ["/assets/upload.css", { type: css, read: () => read("drop.css") + read("upload.css") }],
  ["/assets/upload.js", { type: javascript, read: () => read("upload.js") }],
  ["/assets/welcome.css", { type: css, read: () => read("drop.css") + read("welcome.css") }],
  ["/assets/welcome.js", { type: javascript, read: () => read("welcome.js") }],
  ["/assets/explorer.css", { type: css, read: () => read("explorer.css") }],
  ["/assets/explorer.js", { type: javascript, read: () => read("explorer.js") }],
  ["/assets/explorer-request.js", { type: javascript, read: () => read("explorer-request.js") }],
  ["/assets/icon.svg", { type: "image/svg+xml", read: () => read("icon.svg") }],
  ...[...listFonts()].map(
    ([url, file]) => [url, { type: "font/woff2", read: () => readFileSync(file) }] as const,
  ),
]);

/** The font of most text. Pages name it at their start, or it would be requested once there is text to draw. */
export const firstFont: string =
  [...sources.keys()].find((path) => path.endsWith("/geist-latin-wght-normal.woff2")) ?? "";

export interface Asset {
  type: string;
  body: string | Buffer;
  etag: string;
  isImmutable: boolean;
}

const opened = new Map<string, Asset>();

/** Fonts under their URL, the rest under `/assets/<name>` and, for ever, under the URL that pages name. */
export function findAsset(path: string): Asset | null {
  const versioned = /^\/assets\/(\w{10})(\/.+)$/.exec(path);
  const plainPath = versioned === null ? path : `/assets${versioned[2]}`;
  const source = sources.get(plainPath);
  if (source === undefined) return null;
  // During a rolling upgrade, an old instance may receive requests for a new version; don't cache its response.
  const isImmutable = source.type === "font/woff2" || versioned?.[1] === assetVersion();
  const known = opened.get(`${plainPath} ${isImmutable}`);
  if (known !== undefined) return known;
  const body = source.read();
  const asset = { type: source.type, body, etag: `"${hash("sha256", body).slice(0, 32)}"`, isImmutable };
  opened.set(`${plainPath} ${isImmutable}`, asset);
  return asset;
}

let version: string | undefined;

/** A hash of all assets together, because scripts import each other by relative paths. */
function assetVersion(): string {
  const texts = [...sources].filter(([, { type }]) => type !== "font/woff2");
  version ??= hash("sha256", texts.map(([, source]) => source.read().toString()).join("\0")).slice(0, 10);
  return version;
}

/** The URL by which a page names an asset: it changes with the content. */
export const assetUrl = (name: string): string => `/assets/${assetVersion()}/${name}`;
