import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { http } from "../../kernel/net/node-http.ts";
import { BucketFault } from "./s3-error.ts";

export interface HttpRequest {
  method: string;
  /** As sent on the wire: dots are not resolved and nothing is encoded again. */
  path: string;
  headers: Record<string, string>;
  body?: Uint8Array;
  /** For the response headers; `readBody` gets the remaining time. */
  deadlineMs: number;
  /** How much of a successful response `fetch` reads; more is an error. */
  maxBodyBytes?: number;
  signal?: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Not read yet, and never decoded, whatever its Content-Encoding. */
  stream: IncomingMessage;
}

export interface Exchange {
  /** Resolves with the headers; the caller has to read or destroy the stream. */
  start(request: HttpRequest): Promise<HttpAnswer>;
  /** Resolves with the whole body, or the beginning of an error, within one deadline. */
  fetch(request: HttpRequest): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }>;
  close(): void;
}

export interface ExchangeOptions {
  /** Checks addresses that we did not choose ourselves. */
  lookup?: LookupFunction | undefined;
  maxSockets?: number | undefined;
}

const usualMaxSockets = 256;
const maxHeaderBytes = 16 * 1024;
const maxInterimAnswers = 20;
/** For every response whose body is only used as an explanation. */
export const maxErrorBytes = 64 * 1024;

/** HTTP to one origin over keep-alive connections. Trusts nothing in the responses. */
export function createExchange(origin: string, options: ExchangeOptions = {}): Exchange {
  const { lookup, maxSockets = usualMaxSockets } = options;
  const url = new URL(origin);
  const isTls = url.protocol === "https:";
  const agentOptions = { keepAlive: true, keepAliveMsecs: 15_000, maxSockets, timeout: 60_000 };
  const agent = isTls ? new HttpsAgent(agentOptions) : new http.Agent(agentOptions);
  const target = {
    agent,
    hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
    maxHeaderSize: maxHeaderBytes,
    ...(lookup === undefined ? {} : { lookup }),
  };

  function start(request: HttpRequest, deadline: AbortSignal): Promise<HttpAnswer> {
    const { method, path, headers, body } = request;
    const signal = request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]);
    const outgoing = (isTls ? httpsRequest : http.request)({ ...target, method, path, headers });
    let interim = 0;
    outgoing.on("information", () => {
      if (++interim > maxInterimAnswers) outgoing.destroy(new BucketFault("the bucket sends no response"));
    });
    return new Promise<HttpAnswer>((resolve, reject) => {
      const abort = () => {
        outgoing.destroy(signal.reason as Error);
        // A request that is still waiting for a connection emits nothing when destroyed.
        reject(signal.reason as Error);
      };
      if (signal.aborted) abort();
      else signal.addEventListener("abort", abort, { once: true });
      outgoing.once("response", (stream) => {
        signal.removeEventListener("abort", abort);
        resolve({ status: stream.statusCode ?? 0, headers: stream.headers, stream });
      });
      outgoing.on("error", (error) => {
        signal.removeEventListener("abort", abort);
        reject(error);
      });
      outgoing.end(body);
    });
  }

  return {
    start: (request) => start(request, AbortSignal.timeout(Math.ceil(request.deadlineMs))),
    async fetch(request) {
      const deadline = AbortSignal.timeout(Math.ceil(request.deadlineMs));
      const { status, headers, stream } = await start(request, deadline);
      // There is no body to wait for, although some stores send the end of one.
      if (request.method === "HEAD") {
        stream.on("error", () => {}).resume();
        return { status, headers, body: "" };
      }
      const signal = request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]);
      if (status >= 300)
        return { status, headers, body: (await readBody(stream, maxErrorBytes, signal)).text };
      const { text, isWhole } = await readBody(stream, request.maxBodyBytes ?? maxErrorBytes, signal);
      if (!isWhole) throw new BucketFault("the bucket's response is too large");
      return { status, headers, body: text };
    },
    close: () => agent.destroy(),
  };
}

/** The first bytes as text. The rest is not read, which costs the connection. */
export async function readBody(
  stream: IncomingMessage,
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ text: string; isWhole: boolean }> {
  const abort = () => stream.destroy(signal.reason as Error);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      chunks.push(chunk);
      if (sizeBytes > maxBytes) break;
    }
    const text = Buffer.concat(chunks).toString("utf8", 0, maxBytes);
    return { text, isWhole: sizeBytes <= maxBytes };
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
