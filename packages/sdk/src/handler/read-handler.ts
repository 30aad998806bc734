import { createRequest } from "../api/request.ts";
import { readConnection, type UpstowOptions } from "../api/settings.ts";
import { UpstowError } from "../errors.ts";
import { createSigner } from "../links/create-signer.ts";
import { answerFailure, json, logAs } from "./answer.ts";
import type { ReadAnswer } from "./protocol.ts";

export interface ReadArgs<Context> {
  request: Request;
  context: Context;
  /** The storage key, or the id if the URL ends in one. */
  key: string;
  fileId: string;
}

export interface ReadHandlerOptions<Context = unknown>
  extends Omit<UpstowOptions, "retries" | "concurrency" | "onWait"> {
  /** Whether this user may read the file. Everyone else gets 404. */
  authorize: (args: ReadArgs<Context>) => boolean | Promise<boolean>;
  /**
   * `redirect` (default) redirects readers to a short-lived link. `proxy` sends the bytes through your server, so that the
   * service's URL stays hidden.
   */
  send?: "redirect" | "proxy";
  /** Lifetime of the link in seconds. Default 60. */
  expiresIn?: number;
  /** Makes browsers save the file: true under its own name, a string under that name. */
  download?: boolean | string;
  /** Called with errors whose details are hidden from the browser. Default: logged to the console. */
  onError?: (error: unknown) => void;
}

const fromReader = [
  "range",
  "if-range",
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-unmodified-since",
];
const toReader = [
  "accept-ranges",
  "cache-control",
  "content-disposition",
  "content-length",
  "content-range",
  "content-security-policy",
  "content-type",
  "etag",
  "last-modified",
  "referrer-policy",
  "x-content-type-options",
  "x-robots-tag",
];

/**
 * The endpoint of your backend where users read private files: `<its path>/<storage key>`. Requests that accept only
 * `application/json` get the URL instead of the file.
 */
export function createReadHandler<Context = unknown>(
  options: ReadHandlerOptions<Context>,
): (request: Request, context: Context) => Promise<Response> {
  const connection = readConnection({ ...options, retries: 2 }, 0);
  const signer = createSigner(createRequest(connection), connection, options);
  const { expiresIn = 60, download, send = "redirect" } = options;
  const report = options.onError ?? logAs("read handler:");

  async function answer(request: Request, context: Context): Promise<Response> {
    if (request.method !== "GET" && request.method !== "HEAD") throw methodNotAllowed();
    const file = findFile(request.url);
    if (file === null || !(await options.authorize({ request, context, ...file }))) throw notFound();
    const isProxy = send === "proxy";
    if (isProxy && wantsJson(request)) return describe(nameItself(request), null);
    const expiresAt = Date.now() + expiresIn * 1000;
    const link = await signer.link(file.key, { expiresIn, ...(download === undefined ? {} : { download }) });
    if (isProxy) return proxy(connection().fetch, link, request);
    return wantsJson(request) ? describe(link, { expiresAt, expiresIn }) : redirect(link);
  }

  return async (request, context) => {
    try {
      return await answer(request, context);
    } catch (error) {
      return answerFailure(error, report, "GET, HEAD");
    }
  };
}

/** A key is the last four parts of a path, and an id the last one. Some frameworks end every path with a slash. */
function findFile(url: string): { key: string; fileId: string } | null {
  const parts = new URL(url).pathname.replace(/\/$/, "").split("/").map(decode);
  const [fileId = "", name] = parts.slice(-2);
  if (isId(fileId) && name !== undefined && parts.length > 4)
    return { key: parts.slice(-4).join("/"), fileId };
  const id = parts.at(-1) ?? "";
  return isId(id) ? { key: id, fileId: id } : null;
}

const isId = (text: string) => /^[0-9a-hjkmnp-tv-z]{26}$/.test(text);

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

/** Nothing else, because some HTTP clients put JSON first in every request, also in those for bytes. */
function wantsJson({ headers }: Request): boolean {
  return headers.get("accept")?.trim().toLowerCase() === "application/json";
}

function describe(url: string, life: { expiresAt: number; expiresIn: number } | null): Response {
  const expiresAt = life && new Date(life.expiresAt).toISOString();
  const answer: ReadAnswer = { url, expiresAt, expiresIn: life?.expiresIn ?? null };
  return json(200, answer, { vary: "accept", "referrer-policy": "no-referrer" });
}

/** Relative, because a proxy may show this endpoint under another path. */
function nameItself({ url }: Request): string {
  const { pathname, search } = new URL(url);
  return `./${pathname.split("/").at(-1)}${search}`;
}

function redirect(link: string): Response {
  const headers = {
    location: link,
    "cache-control": "private, no-store",
    "referrer-policy": "no-referrer",
    vary: "accept",
  };
  return new Response(null, { status: 302, headers });
}

async function proxy(
  fetch: (url: string, init: RequestInit) => Promise<Response>,
  link: string,
  { method, headers, signal }: Request,
): Promise<Response> {
  const asked = await fetch(link, { method, headers: only(headers, fromReader), signal });
  // Don't pass on what the service says about its own link.
  if (asked.status === 403 || asked.status === 404) throw notFound();
  const kept = only(asked.headers, toReader);
  return new Response(asked.body, { status: asked.status, headers: { ...kept, vary: "accept" } });
}

function only(headers: Headers, names: string[]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) kept[name] = value;
  }
  return kept;
}

function notFound(): UpstowError {
  return new UpstowError("File not found.", { code: "NOT_FOUND", status: 404 });
}

function methodNotAllowed(): UpstowError {
  return new UpstowError("Only GET and HEAD are allowed here.", { code: "METHOD_NOT_ALLOWED", status: 405 });
}
