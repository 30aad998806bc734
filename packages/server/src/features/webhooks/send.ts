import type { IncomingMessage } from "node:http";
import { Agent, request as startRequest } from "node:https";
import { createSecureContext } from "node:tls";
import type { DeliveryErrorClass } from "@upstow/contract";
import type { OutboundGuard } from "../../net/outbound-guard.ts";
import { classifyError, classifyStatus } from "./classify-failure.ts";

export interface OutgoingDelivery {
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

export interface SendResult {
  statusCode: number | null;
  /** Null for a success. */
  error: DeliveryErrorClass | null;
  response: string | null;
  retryAfter?: string;
}

/** Makes one request. Rejects only when `stop` is aborted: everything else that can go wrong is a result. */
export type Send = (delivery: OutgoingDelivery, stop: AbortSignal) => Promise<SendResult>;

const responseMaxBytes = 16 * 1024;

/**
 * Posts over HTTPS to addresses that the guard allows, each time over a new connection, so that each time the
 * address is judged. One deadline covers the name, the connection, the headers and the body together.
 */
export function createSender(guard: OutboundGuard, deadlineMs: number): Send {
  let agent: Agent | null = null;

  return async (delivery, stop) => {
    const deadline = AbortSignal.timeout(deadlineMs);
    const signal = AbortSignal.any([deadline, stop]);
    const progress: { statusCode: number | null } = { statusCode: null };
    try {
      const check = await abortable(guard.checkUrl(delivery.url), signal);
      if (!check.ok) return { statusCode: null, error: "blocked", response: null };
      agent ??= createAgent();
      const response = await post(check.url, delivery, { agent, lookup: guard.lookup, signal });
      progress.statusCode = response.statusCode ?? 0;
      const text = await readStart(response);
      return toResult(response, text);
    } catch (error) {
      stop.throwIfAborted();
      const failure = deadline.aborted ? "timeout" : classifyError(error);
      return { statusCode: progress.statusCode, error: failure, response: null };
    }
  };
}

/**
 * An agent of our own: the global one may be told by the environment to use a proxy, which nothing here judges. One
 * context for all connections, since making one for each costs a fifth of a delivery; made when it is first needed,
 * since it takes reading all trusted authorities.
 */
function createAgent(): Agent {
  return new Agent({ keepAlive: false, secureContext: createSecureContext() });
}

function post(
  url: URL,
  delivery: OutgoingDelivery,
  connection: { agent: Agent; lookup: OutboundGuard["lookup"]; signal: AbortSignal },
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = startRequest(url, {
    ...connection,
    method: "POST",
    headers: { ...delivery.headers, "content-length": delivery.body.byteLength },
    rejectUnauthorized: true,
  });
  request.once("response", resolve);
  request.on("error", reject);
  request.once("upgrade", (_response, socket) => {
    socket.destroy();
    reject(Object.assign(new Error("the receiver switched protocols"), { code: "ERR_HTTP_UPGRADE" }));
  });
  request.end(delivery.body);
  return promise;
}

/** What is beyond the limit is never read: leaving the loop cuts the connection. */
async function readStart(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes >= responseMaxBytes) break;
  }
  const encoding = response.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity" && sizeBytes > 0) return `(a body in the encoding ${encoding.slice(0, 100)})`;
  const start = Buffer.concat(chunks).subarray(0, responseMaxBytes);
  // PostgreSQL keeps no NUL in text.
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

function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", onAbort));
}
