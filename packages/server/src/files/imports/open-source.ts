import type { ClientRequest, IncomingMessage } from "node:http";
import { Agent, request as startHttpsRequest } from "node:https";
import { createSecureContext } from "node:tls";
import { IMPORT_REDIRECTS_MAX, TRANSFER_MIN_BYTES_PER_SEC } from "@upstow/contract";
import { http } from "../../kernel/net/node-http.ts";
import { AddressRefused, type OutboundGuard } from "../../kernel/net/outbound-guard.ts";
import { isPlainHttp, parseOutboundUrl } from "../../kernel/net/outbound-url.ts";
import { version } from "../../kernel/version.ts";
import { changed, ImportFailure } from "./failure.ts";
import { isPlain, readLength, readLocation, readRange, strongEtag } from "./source-headers.ts";

/** A response with the bytes of a file, from `fromByte` on. */
export interface Source {
  fromByte: number;
  /** Null if the source does not say. */
  totalBytes: number | null;
  /** As sent; null without one. */
  contentType: string | null;
  /** Set if the source can continue later: its strong ETag. */
  etag: string | null;
  /** To be read once. Fails unless all of it arrives, fast enough. */
  chunks(): AsyncGenerator<Buffer>;
  close(): void;
}

/** Where an earlier attempt stopped. */
export interface ResumePoint {
  fromByte: number;
  etag: string;
}

export type OpenSource = (url: string, resume: ResumePoint | null, signal: AbortSignal) => Promise<Source>;

interface Patience {
  connectMs: number;
  idleMs: number;
}

const redirects = [301, 302, 303, 307, 308];
/** 203 is a 200 that a proxy on the way has changed. */
const wholeFile = [200, 203];
/** How long bytes beyond the announced end are waited for, unless the source closes the connection. */
const lingerMs = 250;

const unreachable = (cause: unknown) =>
  new ImportFailure("unreachable", "The source could not be reached.", { mayPass: true, cause });
const tooSlow = () => new ImportFailure("too_slow", "The source sends too slowly.", { mayPass: true });
const notHttp = (cause: unknown) =>
  new ImportFailure("invalid_response", "The source's response is not valid HTTP.", { cause });
const tooManyBytes = (cause: unknown) =>
  new ImportFailure("invalid_response", "The source sends more bytes than it announced.", { cause });
const isParseError = (error: unknown) =>
  ((error as { code?: string } | undefined)?.code ?? "").startsWith("HPE_");
const cutOff = (cause: unknown) =>
  new ImportFailure("incomplete", "The source ended before the end of the file.", { mayPass: true, cause });

/**
 * Requests a file without cookies or credentials, and checks the address of every hop when connecting. Redirects are
 * followed here because each leads to another address.
 */
export function createOpenSource(guard: OutboundGuard, patience: Patience): OpenSource {
  let secureAgent: Agent | null = null;
  const plainAgent = new http.Agent({ keepAlive: false });

  function start(url: URL, headers: Record<string, string>, signal: AbortSignal): ClientRequest {
    const options = { headers, signal, lookup: guard.lookupFor(url) };
    if (isPlainHttp(url)) return http.request(url, { ...options, agent: plainAgent });
    // One context, created on first use, because it reads all trusted authorities.
    secureAgent ??= new Agent({ keepAlive: false, secureContext: createSecureContext() });
    return startHttpsRequest(url, { ...options, agent: secureAgent, rejectUnauthorized: true });
  }

  async function ask(raw: string, resume: ResumePoint | null, signal: AbortSignal): Promise<Response> {
    const parsed = parseOutboundUrl(raw, { plainHttp: true });
    if (!parsed.ok)
      throw new ImportFailure(
        "redirect",
        `The source redirects to a URL that is not allowed: ${parsed.reason}`,
      );
    if (guard.isRefusedLiteral(parsed.url)) throw addressRefused();
    const request = start(parsed.url, headersFor(resume), signal);
    // Errors after the response are those of bytes after its announced end, or of a connection that broke.
    const errors: unknown[] = [];
    request.on("error", (error) => void errors.push(error));
    return { url: parsed.url, request, response: await respond(request, patience), errors };
  }

  return async (raw, resume, signal) => {
    let asked = await ask(raw, resume, signal);
    for (let hops = 0; redirects.includes(asked.response.statusCode ?? 0); hops++) {
      const location = readLocation(asked.response.headers);
      asked.request.destroy();
      if (location === null || !URL.canParse(location, asked.url.href))
        throw new ImportFailure("redirect", "The source redirects without a valid URL.");
      if (hops === IMPORT_REDIRECTS_MAX)
        throw new ImportFailure("redirect", `The source redirects more than ${IMPORT_REDIRECTS_MAX} times.`);
      asked = await ask(new URL(location, asked.url).href, resume, signal);
    }
    try {
      return toSource(asked, resume, patience);
    } catch (error) {
      asked.request.destroy();
      throw error;
    }
  };
}

interface Response {
  url: URL;
  request: ClientRequest;
  response: IncomingMessage;
  errors: readonly unknown[];
}

function headersFor(resume: ResumePoint | null): Record<string, string> {
  return {
    accept: "*/*",
    "accept-encoding": "identity",
    "user-agent": `Upstow/${version}`,
    ...(resume === null ? {} : { range: `bytes=${resume.fromByte}-`, "if-range": resume.etag }),
  };
}

function addressRefused(cause?: unknown): ImportFailure {
  return new ImportFailure("address_refused", "The URL resolves to an address that is not public.", {
    cause,
  });
}

/** Doesn't say whether name, connection or TLS failed, which would reveal open ports. */
function explain(error: unknown, isConnected: boolean): unknown {
  if (error instanceof AddressRefused) return addressRefused(error);
  if (error instanceof ImportFailure || (error as Error).name === "AbortError") return error;
  const { code = "" } = error as { code?: string };
  return isConnected && (isParseError(error) || code.startsWith("ERR_HTTP"))
    ? notHttp(error)
    : unreachable(error);
}

/** The head of the response: one time limit for name, connection and TLS together, another for the headers. */
function respond(request: ClientRequest, { connectMs, idleMs }: Patience): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  let isConnected = false;
  let timer = setTimeout(() => request.destroy(unreachable(null)), connectMs);
  request.once("socket", (socket) => {
    socket.once(request.protocol === "https:" ? "secureConnect" : "connect", () => {
      isConnected = true;
      clearTimeout(timer);
      timer = setTimeout(() => request.destroy(tooSlow()), idleMs);
    });
  });
  request.on("error", (error) => reject(explain(error, isConnected)));
  request.once("upgrade", (_response, socket) => {
    socket.destroy();
    reject(notHttp(null));
  });
  request.once("response", resolve);
  request.end();
  return promise.finally(() => clearTimeout(timer));
}

function toSource(asked: Response, resume: ResumePoint | null, patience: Patience): Source {
  const { request, response } = asked;
  const { statusCode = 0, headers } = response;
  const isPartial = statusCode === 206;
  if (!wholeFile.includes(statusCode) && !(isPartial && resume !== null)) throw refusedBy(statusCode);
  if (!isPlain(headers))
    throw new ImportFailure(
      "encoded",
      "The source sends the file compressed, although no compression was requested.",
    );
  const range = isPartial ? readRange(headers["content-range"], resume?.fromByte ?? 0) : null;
  const etag = headers["accept-ranges"] === "bytes" || isPartial ? strongEtag(headers.etag) : null;
  if (isPartial && (range === null || etag !== resume?.etag)) throw changed();
  return {
    fromByte: isPartial ? (resume?.fromByte ?? 0) : 0,
    totalBytes: range?.totalBytes ?? readLength(headers["content-length"]),
    contentType: headers["content-type"] ?? null,
    etag,
    chunks: () => readBody(asked, patience.idleMs),
    close: () => void request.destroy(),
  };
}

function refusedBy(statusCode: number): ImportFailure {
  const mayPass = statusCode >= 500 || statusCode === 408 || statusCode === 429;
  return new ImportFailure("status", `The source returned status ${statusCode}.`, { mayPass });
}

/** Only time spent waiting for the source counts against it. */
async function* readBody({ response, errors }: Response, idleMs: number): AsyncGenerator<Buffer> {
  const leastBytes = (TRANSFER_MIN_BYTES_PER_SEC * idleMs) / 1000;
  let [waitedMs, receivedBytes] = [0, 0];
  const chunks = response.iterator({ destroyOnReturn: true });
  for (;;) {
    const askedAt = performance.now();
    const timer = setTimeout(() => response.destroy(tooSlow()), Math.max(1, idleMs - waitedMs));
    const next = await chunks
      .next()
      .catch((error: unknown) => {
        throw error instanceof ImportFailure || (error as Error).name === "AbortError"
          ? error
          : cutOff(error);
      })
      .finally(() => clearTimeout(timer));
    if (next.done === true) break;
    waitedMs += performance.now() - askedAt;
    receivedBytes += next.value.length;
    if (receivedBytes >= leastBytes) [waitedMs, receivedBytes] = [0, 0];
    yield next.value;
  }
  if (!response.complete) throw cutOff(null);
  await closed(response);
  const [error] = errors;
  if (isParseError(error)) throw tooManyBytes(error);
  // If the end of the connection is the end of the file, a broken one may have lost part of it.
  const { headers } = response;
  const showsEnd = headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
  if (error !== undefined && !showsEnd) throw cutOff(error);
}

function closed({ socket }: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (socket.destroyed) return Promise.resolve();
  const timer = setTimeout(resolve, lingerMs);
  socket.once("close", () => resolve());
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}
