import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { Agent, request as startHttpsRequest } from "node:https";
import { createSecureContext } from "node:tls";
import { type DeliveryErrorClass, WEBHOOK_RESPONSE_MAX_BYTES, WEBHOOK_TIMEOUT_SEC } from "@upstow/contract";
import { classifyError, classifyStatus } from "../kernel/net/classify-failure.ts";
import { http } from "../kernel/net/node-http.ts";
import type { OutboundGuard } from "../kernel/net/outbound-guard.ts";
import { isPlainHttp } from "../kernel/net/outbound-url.ts";

export interface OutgoingDelivery {
  /** From `parseOutboundUrl`. */
  url: URL;
  headers: Record<string, string>;
  body: Uint8Array;
}

export interface SendResult {
  statusCode: number | null;
  /** Null on success. */
  error: DeliveryErrorClass | null;
  response: string | null;
  retryAfter?: string;
}

/** Sends one request. Rejects only if `stop` is aborted; every other failure is a result. */
export type Send = (delivery: OutgoingDelivery, stop: AbortSignal) => Promise<SendResult>;

/**
 * Posts to addresses that the guard allows: over HTTPS, or over plain HTTP to those the operator has listed. Each
 * delivery gets a new connection, so that its address is checked again. One deadline covers the name, the connection,
 * the headers and the body together.
 */
export function createSender(guard: OutboundGuard, deadlineMs = WEBHOOK_TIMEOUT_SEC * 1000): Send {
  let secureAgent: Agent | null = null;
  const plainAgent = new http.Agent({ keepAlive: false });

  function start(url: URL, options: RequestOptions): ClientRequest {
    if (isPlainHttp(url))
      return http.request(url, { ...options, agent: plainAgent, lookup: guard.plainLookup });
    secureAgent ??= createAgent();
    const { lookup } = guard;
    return startHttpsRequest(url, { ...options, agent: secureAgent, lookup, rejectUnauthorized: true });
  }

  return async (delivery, stop) => {
    stop.throwIfAborted();
    if (guard.isRefusedLiteral(delivery.url)) return { statusCode: null, error: "blocked", response: null };
    const progress: Progress = { statusCode: null };
    try {
      return await exchange(delivery, { start, deadlineMs, stop }, progress);
    } catch (error) {
      stop.throwIfAborted();
      return { statusCode: progress.statusCode, error: classifyError(error), response: null };
    }
  };
}

/**
 * Our own agent, because the environment may tell the global one to use a proxy, which nothing here checks. One context
 * for all connections, because one per connection costs 20% of a delivery; created on first use, because it reads all
 * trusted authorities.
 */
function createAgent(): Agent {
  return new Agent({ keepAlive: false, secureContext: createSecureContext() });
}

interface Connection {
  start: (url: URL, options: RequestOptions) => ClientRequest;
  deadlineMs: number;
  stop: AbortSignal;
}

interface Progress {
  statusCode: number | null;
}

/** With its own timer and listeners, because combined and timed signals cost several times as much. */
function exchange(
  delivery: OutgoingDelivery,
  connection: Connection,
  progress: Progress,
): Promise<SendResult> {
  const { start, deadlineMs, stop } = connection;
  const { promise, resolve, reject } = Promise.withResolvers<SendResult>();
  const request = start(delivery.url, {
    method: "POST",
    headers: { ...delivery.headers, "content-length": delivery.body.byteLength },
  });
  const cut = (code: string) => {
    reject(Object.assign(new Error("the request was cut off"), { code }));
    request.destroy();
  };
  const onStop = () => cut("ECANCELED");
  const timer = setTimeout(cut, deadlineMs, "ETIMEDOUT");
  stop.addEventListener("abort", onStop);
  let answer: IncomingMessage | undefined;
  // Ignore bytes after a complete response: a body after a 204, or one longer than its Content-Length.
  request.on("error", (error) => answer?.complete || reject(error));
  request.once("upgrade", (_response, socket) => {
    socket.destroy();
    cut("ERR_HTTP_UPGRADE");
  });
  request.once("response", (response) => {
    answer = response;
    progress.statusCode = response.statusCode ?? 0;
    readStart(response).then((text) => resolve(toResult(response, text)), reject);
  });
  request.end(delivery.body);
  return promise.finally(() => {
    clearTimeout(timer);
    stop.removeEventListener("abort", onStop);
  });
}

/** Bytes beyond the limit are never read; the connection is cut. */
function readStart(response: IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  response.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes < WEBHOOK_RESPONSE_MAX_BYTES) return;
    resolve(toText(response, chunks));
    response.destroy();
  });
  response.once("end", () => resolve(toText(response, chunks)));
  response.on("error", reject);
  return promise;
}

function toText(response: IncomingMessage, chunks: Buffer[]): string {
  const encoding = response.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity" && chunks.length > 0)
    return `(a body in the encoding ${encoding.slice(0, 100)})`;
  const start = Buffer.concat(chunks).subarray(0, WEBHOOK_RESPONSE_MAX_BYTES);
  // PostgreSQL cannot store NUL in text.
  return new TextDecoder().decode(start, { stream: true }).replaceAll("\0", "\ufffd");
}

function toResult(response: IncomingMessage, text: string): SendResult {
  const statusCode = response.statusCode ?? 0;
  const retryAfter = response.headers["retry-after"];
  return {
    statusCode,
    error: classifyStatus(statusCode),
    response: text,
    ...(retryAfter === undefined || ![429, 503].includes(statusCode) ? {} : { retryAfter }),
  };
}
