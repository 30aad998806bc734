import { hash } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Callee, callTo } from "../../kernel/calls.ts";
import { StorageFull } from "../../kernel/errors.ts";
import { StorageUnavailable } from "../object-store.ts";
import { createExchange, type HttpRequest, maxErrorBytes, readBody } from "./exchange.ts";
import { encodeQuery, type Location } from "./location.ts";
import { isOurMistake, isPassing, quote, S3Error, toS3Error } from "./s3-error.ts";
import type { Signer } from "./sigv4.ts";
import { parseLongXml, type XmlElement } from "./xml.ts";

export interface S3Request {
  method: "GET" | "PUT" | "POST" | "DELETE" | "HEAD";
  /** If absent, the bucket itself. */
  key?: string;
  query?: Record<string, string>;
  /** Lower-case names. */
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** For one attempt, instead of the default. */
  deadlineMs?: number;
  /** In addition to the deadline. */
  extraMs?: number;
  /** For calls that must not be retried blindly. */
  once?: boolean;
  signal?: AbortSignal;
  /** Its body is read at the pace of a client, which may be slow. */
  isDownload?: boolean;
}

export interface S3Answer {
  headers: IncomingHttpHeaders;
  /** Null if the body is not XML. */
  xml: XmlElement | null;
}

/** Signed requests to one bucket. Error responses are thrown as `S3Error` or `StorageFull`. */
export interface S3Calls {
  call(request: S3Request): Promise<S3Answer>;
  /** The caller reads the body. */
  open(request: S3Request): Promise<{ headers: IncomingHttpHeaders; stream: IncomingMessage }>;
  close(): void;
}

/** The same calls, all aborted with the signal. */
export function limitCalls(calls: S3Calls, signal: AbortSignal): S3Calls {
  const limit = (request: S3Request): S3Request => ({
    ...request,
    signal: request.signal === undefined ? signal : AbortSignal.any([request.signal, signal]),
  });
  return {
    call: (request) => calls.call(limit(request)),
    open: (request) => calls.open(limit(request)),
    close: calls.close,
  };
}

export interface S3CallOptions {
  /** Whose bucket it is. */
  callee: Callee;
  location: Location;
  signer: Signer;
  retry: RetryPolicy;
  attemptDeadlineMs: number;
  /** The largest response parsed as XML. */
  maxXmlBytes: number;
  maxSockets?: number | undefined;
  lookup?: LookupFunction | undefined;
}

const emptySha256 = hash("sha256", "");

export function createS3Calls({
  callee,
  location,
  signer,
  retry,
  attemptDeadlineMs,
  maxXmlBytes,
  ...network
}: S3CallOptions): S3Calls {
  const exchange = createExchange(location.origin, network);
  // On separate connections, so that slow clients do not use up those needed by everything else.
  const downloads = createExchange(location.origin, network);

  function prepare(request: S3Request): HttpRequest {
    const { method, body, signal } = request;
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    const path = location.pathOf(request.key);
    const query = encodeQuery(request.query ?? {});
    const given = { ...request.headers, host: location.host };
    const bodySha256 = bytes === undefined ? emptySha256 : hash("sha256", bytes);
    const headers = { ...given, ...signer.signHeaders({ method, path, query, headers: given, bodySha256 }) };
    const length = bytes?.byteLength ?? (method === "PUT" || method === "POST" ? 0 : undefined);
    return {
      method,
      path: query === "" ? path : `${path}?${query}`,
      headers: length === undefined ? headers : { ...headers, "content-length": String(length) },
      ...(bytes === undefined ? {} : { body: bytes }),
      deadlineMs: (request.deadlineMs ?? attemptDeadlineMs) + (request.extraMs ?? 0),
      maxBodyBytes: maxXmlBytes,
      ...(signal === undefined ? {} : { signal }),
    };
  }

  function attempt<T>(request: S3Request, work: () => Promise<T>): Promise<T> {
    const policy = request.once === true ? { ...retry, attempts: 1 } : retry;
    return withRetries(policy, request.signal, () => callTo(callee, operationOf(request), work, isAnswer));
  }

  return {
    call(request) {
      return attempt(request, async () => {
        const { status, headers, body } = await exchange.fetch(prepare(request));
        if (status >= 300) throw toS3Error(status, body);
        const xml = await parseLongXml(body);
        // Copies and completions get their response headers before they end, so failures can follow a 200.
        if (xml?.name === "Error") throw toS3Error(status, body);
        return { headers, xml };
      });
    },

    open(request) {
      return attempt(request, async () => {
        const { start } = request.isDownload === true ? downloads : exchange;
        const { status, headers, stream } = await start(prepare(request));
        if (status < 300) return { headers, stream };
        const { text } = await readBody(stream, maxErrorBytes, AbortSignal.timeout(attemptDeadlineMs));
        throw toS3Error(status, text);
      });
    },

    close() {
      exchange.close();
      downloads.close();
    },
  };
}

/** Missing, or not the version that was asked for. */
const isAnswer = (error: unknown) => error instanceof S3Error && [304, 404, 412].includes(error.status);

const subresources = ["uploads", "uploadId", "delete", "list-type", "versions", "cors", "partNumber"];

function operationOf({ method, key, query = {} }: S3Request): string {
  const part = subresources.find((name) => query[name] !== undefined);
  return `${method} ${part ?? (key === undefined ? "bucket" : "object")}`;
}

export interface RetryPolicy {
  attempts: number;
  /** The maximum of the first pause; it doubles with each further one. */
  baseDelayMs: number;
  maxDelayMs: number;
  /** No attempt starts later than this after the first. */
  giveUpAfterMs: number;
}

/** For calls that can be repeated. Pauses are random, so that instances do not retry in step. */
export async function withRetries<T>(
  policy: RetryPolicy,
  signal: AbortSignal | undefined,
  attempt: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  for (let number = 1; ; number++) {
    try {
      signal?.throwIfAborted();
      return await attempt();
    } catch (error) {
      if (signal?.aborted === true) throw explain(signal.reason);
      const pauseMs = Math.random() * Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (number - 1));
      const isLate = performance.now() + pauseMs - startedAt > policy.giveUpAfterMs;
      if (number >= policy.attempts || isLate || !isPassing(error)) throw explain(error);
      // The abort is noticed at the next attempt.
      await sleep(pauseMs, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    }
  }
}

/** Without the cause, because Node attaches what the bucket sent, packets and certificates, which would be logged. */
function explain(error: unknown): unknown {
  if (error instanceof StorageUnavailable || error instanceof StorageFull || isOurMistake(error))
    return error;
  const { name, code, message } = error as NodeJS.ErrnoException;
  // The caller has cancelled and needs no explanation.
  if (name === "AbortError") return error;
  const reason = name === "TimeoutError" ? "it did not respond in time" : quote(String(code ?? message));
  return new StorageUnavailable(`the bucket cannot be reached: ${reason}`);
}

/** One deadline for all steps of some work. Unlike `AbortSignal.timeout`, its timer ends with the work. */
export async function withDeadline<T>(
  deadlineMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new DOMException("the deadline has passed", "TimeoutError")),
    deadlineMs,
  );
  try {
    return await work(late.signal);
  } finally {
    clearTimeout(timer);
  }
}
