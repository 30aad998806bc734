import { hash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import type { Signer } from "@fastify/cookie";
import {
  dashboardFolder,
  listFirstCalls,
  listPageScripts,
  listShellFiles,
  type Manifest,
} from "@upstow/dashboard";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Deps } from "../deps.ts";
import { type PageSources, pageSources, type StaticFile, sendStatic } from "../http/static-file.ts";
import { AppError, notFound } from "../kernel/errors.ts";
import { uploadPath } from "../storage/storage-key.ts";
import { findStorageOrigins, originOf } from "./project-routes.ts";
import { createSessionSigner, findSessionCookie } from "./session/visitor.ts";
import { findSession } from "./sessions.ts";

/** The dashboard's files, read on first use. Every path except assets serves the same page. */
export function pageRoutes(app: FastifyInstance, deps: Deps): void {
  const schema = { hide: true };
  const policy = policyFor(deps);
  const signer = createSessionSigner(deps.keyring);
  let opening: Promise<Pages | null> | undefined;
  const pages = async () => {
    opening ??= findPages();
    const found = await opening;
    if (found !== null) return found;
    opening = undefined;
    throw notBuilt();
  };

  for (const path of ["/dashboard", "/dashboard/*"]) {
    app.get(path, { schema }, async (request, reply) => {
      // An unknown API call must not return a page.
      if (/^\/dashboard\/api(?:[/?]|$)/.test(request.url)) throw notFound("This call was");
      const { index, manifest, font } = await pages();
      const visitor = await findVisitor(deps, signer, request);
      const origins = visitor?.origins ?? [];
      return reply
        .headers({
          ...headersWith(policy(pageSources(deps.config, request), origins)),
          "cache-control": "no-cache",
          vary: "cookie",
          // Crawlers only see a sign-in page.
          ...(visitor === null
            ? { "x-robots-tag": "noindex" }
            : { link: preload(manifest, font, request.url) }),
        })
        .type(index.type)
        .send(withOrigins(index, origins));
    });
  }

  app.get<{ Params: { name: string } }>("/dashboard/assets/:name", { schema }, async (request, reply) => {
    const asset = (await pages()).assets.get(request.params.name);
    if (asset === undefined) throw notFound("Asset");
    return sendStatic(request, reply.headers(headersWith(assetPolicy)), asset);
  });
}

interface Visitor {
  /** The buckets of the current user: no one else learns where customers store their files. */
  origins: string[];
}

/** Null where no one is signed in. */
async function findVisitor(deps: Deps, signer: Signer, request: FastifyRequest): Promise<Visitor | null> {
  const { value: token } = signer.unsign(findSessionCookie(request) ?? "");
  if (token === null) return null;
  try {
    const session = await findSession(deps, token);
    return session === null ? null : { origins: await findStorageOrigins(deps, session.accountId) };
  } catch (error) {
    // The page itself reports that the service is unavailable, which is better than an error instead of it.
    request.log.warn({ err: error }, "the buckets of a visitor could not be read");
    return { origins: [] };
  }
}

/** The next files and calls of a signed-in visitor's page, so that the browser starts them before running its script. */
function preload(manifest: Manifest, font: string, url: string): string {
  const [path = "", search = ""] = url.split("?", 2);
  const { scripts, styles } = listShellFiles(manifest);
  return [
    ...styles.map((style) => `<${style}>; rel=preload; as=style; crossorigin`),
    ...[...scripts, ...listPageScripts(manifest, path)].map((script) => `<${script}>; rel=modulepreload`),
    `<${font}>; rel=preload; as=font; crossorigin`,
    // As the page's own calls are made: the browser would not use the response of any other.
    ...listFirstCalls(path, search).map((call) => `<${call}>; rel=preload; as=fetch; crossorigin`),
  ].join(", ");
}

/** The page compares its policy with what it needs later, and reloads for a new one. */
function withOrigins({ body }: StaticFile, origins: string[]): string {
  return body
    .toString()
    .replace('name="storage-origins" content=""', `name="storage-origins" content="${origins.join(" ")}"`);
}

/** For assets opened as pages. */
const assetPolicy = "default-src 'none'; frame-ancestors 'none'";

/**
 * Scripts and styles may only come from the dashboard's assets. Files may also come from where they are served and be
 * sent to where they are stored, which may be a customer's bucket. Only files may be framed, for the browser's PDF
 * viewer, and no one may frame the dashboard.
 */
function policyFor(deps: Pick<Deps, "config" | "store">): (own: PageSources, buckets: string[]) => string {
  const { publicUrl, cdnUrl } = deps.config;
  const cdn = new URL(cdnUrl).origin;
  const storage = storageOrigins(deps);
  const files = ["'self'", cdn, ...storage].join(" ");
  // Public files, and links to private ones.
  const served = [`${cdnUrl}/f/`, `${cdnUrl}/s/`, ...storage];
  const rules = [
    "default-src 'none'",
    `img-src ${files} data: blob:`,
    `media-src ${files}`,
    `frame-src ${served.join(" ")}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  const targets = [`${publicUrl}${uploadPath}`, ...served];
  return (own, buckets) => {
    const assets = own("/dashboard/assets/");
    const calls = [own("/dashboard/api/", "/docs/search.json", "/robots.txt"), ...targets, ...buckets].join(
      " ",
    );
    return [
      ...rules,
      `script-src ${assets}`,
      `style-src ${assets}`,
      `font-src ${own("/assets/fonts/")}`,
      `connect-src ${calls}`,
    ].join("; ");
  };
}

function headersWith(policy: string): Record<string, string> {
  return {
    "content-security-policy": policy,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
}

/** The bucket's origin for browsers, for uploads and for redirects when serving files. */
function storageOrigins({ store }: Pick<Deps, "store">): string[] {
  const headers = { contentType: "text/plain", contentDisposition: "inline" };
  const address = store.directReads?.presignGet("a", { ...headers, expiresInSec: 1 });
  return address == null ? [] : [originOf(address)];
}

function notBuilt(): AppError {
  return new AppError("SERVICE_UNAVAILABLE", "The dashboard has not been built.", {
    suggestion: "Start the service with `npm start`, which builds it.",
  });
}

const types: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

interface Pages {
  index: StaticFile;
  manifest: Manifest;
  /** The URL of the font of the first text, which would otherwise be requested once there is text. */
  font: string;
  /** By name, below assets/. */
  assets: Map<string, StaticFile>;
}

/** The built dashboard, a few hundred kilobytes; null if it has not been built. */
async function findPages(): Promise<Pages | null> {
  try {
    const names = await readdir(new URL("assets/", dashboardFolder));
    const assets = await Promise.all(
      names.map(async (name): Promise<[string, StaticFile]> => [name, await readPage(`assets/${name}`)]),
    );
    const manifest = JSON.parse(await readFile(new URL("manifest.json", dashboardFolder), "utf8"));
    const styles = assets.find(([name]) => name.endsWith(".css"))?.[1].body.toString() ?? "";
    const font = /\/assets\/fonts\/[\w./-]*\/geist-latin-wght-normal\.woff2/.exec(styles)?.[0] ?? "";
    return { index: await readPage("index.html"), manifest, font, assets: new Map(assets) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

async function readPage(path: string): Promise<StaticFile> {
  const body = await readFile(new URL(path, dashboardFolder));
  return {
    type: types[extname(path)] ?? "application/octet-stream",
    body,
    etag: `"${hash("sha256", body, "base64url").slice(0, 22)}"`,
    isImmutable: path.startsWith("assets/"),
  };
}
