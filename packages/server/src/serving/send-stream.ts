import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../deps.ts";
import { isForwarded } from "../http/require-https.ts";
import type { ByteRange, ObjectStream } from "../storage/object-store.ts";

/**
 * Writes a stream to the client by hand: each chunk goes back to the store once the kernel has it, because new memory
 * for every megabyte keeps the garbage collector busier than the disk. A stream of another length than declared
 * closes the connection: otherwise the client would read extra bytes as the next response, or wait for missing ones.
 */
export async function sendStream(
  reply: FastifyReply,
  stream: ObjectStream,
  lengthBytes: number,
  onBytes: (count: number) => void,
): Promise<void> {
  reply.hijack();
  const { raw } = reply;
  // A server that is closing must not wait for this connection's next request.
  if (!reply.server.server.listening) raw.setHeader("connection", "close");
  raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>);
  let leftBytes = lengthBytes;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      leftBytes -= chunk.length;
      if (leftBytes < 0) throw new Error("the stream is longer than declared");
      await write(raw, chunk);
      onBytes(chunk.length);
      stream.recycle?.(chunk);
    }
    if (leftBytes > 0) throw new Error("the stream is shorter than declared");
    raw.end();
  } catch {
    // The client must not consider the response complete.
    raw.destroy();
  }
}

/** Resolves when the kernel has accepted the chunk; rejects if the client has disconnected. */
function write(response: ServerResponse, chunk: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    if (response.destroyed) {
      reject(new Error("the client disconnected"));
      return;
    }
    const onClose = () => reject(new Error("the client disconnected"));
    response.once("close", onClose);
    response.write(chunk, (error) => {
      response.off("close", onClose);
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Tells a proxy which file to send on our behalf. */
interface Handover {
  header: string;
  path: string;
}

/**
 * Null if the bytes have to come from here: nothing is configured, the peer is not our proxy or is itself the client,
 * its response would differ from ours, or the object is not one file. Paths in the request are ignored: a client
 * behind a proxy that forwards unknown headers could name any internal one.
 */
export async function findHandover(
  deps: Deps,
  request: FastifyRequest,
  storeKey: string,
  asked: RangeAnswer,
): Promise<Handover | null> {
  const { sendfile, trustedProxies } = deps.config;
  if (sendfile === null || !trustedProxies.contains(request.socket.remoteAddress ?? "")) return null;
  // Other clients on the proxy's machine share its address, and could not use a path.
  if (!isForwarded(request.headers) || !isJudgedAlike(request.headers, asked)) return null;
  const path = await deps.store.localFiles?.findPath(storeKey);
  return path ? { header: sendfile.header, path: sendfile.prefix + path } : null;
}

/**
 * The proxy evaluates the request again, using the file on its disk: it knows neither our ETag nor our date, handles
 * multiple or malformed ranges in its own way, and cannot parse numbers of more than 64 bits.
 */
function isJudgedAlike(headers: IncomingHttpHeaders, asked: RangeAnswer): boolean {
  const { range } = headers;
  if (["if-match", "if-unmodified-since", "if-range"].some((name) => headers[name] !== undefined))
    return false;
  return range === undefined || (asked !== "all" && !/\d{19}/.test(range));
}

/** Request headers that the response depends on besides the URL (RFC 9110 §13). */
interface Validators {
  /** With its quotes. */
  etag: string;
  modifiedMs: number;
}

type Headers = Pick<
  IncomingHttpHeaders,
  "if-match" | "if-none-match" | "if-modified-since" | "if-unmodified-since"
> & { "if-range"?: string | string[] | undefined };

/** If present, only the tag counts, with a strong comparison; dates are whole seconds. */
export function failsPrecondition(headers: Headers, { etag, modifiedMs }: Validators): boolean {
  const ifMatch = headers["if-match"];
  if (ifMatch !== undefined) return ifMatch.trim() !== "*" && !listTags(ifMatch).includes(etag);
  return wholeSeconds(modifiedMs) > parseHttpDate(headers["if-unmodified-since"]);
}

/** If present, only If-None-Match counts, with a weak comparison. */
export function isNotModified(headers: Headers, { etag, modifiedMs }: Validators): boolean {
  const ifNoneMatch = headers["if-none-match"];
  if (ifNoneMatch !== undefined) {
    const tags = listTags(ifNoneMatch).map((tag) => tag.replace(/^W\//, ""));
    return ifNoneMatch.trim() === "*" || tags.includes(etag);
  }
  return wholeSeconds(modifiedMs) <= parseHttpDate(headers["if-modified-since"]);
}

/** A range is only valid for exactly the same bytes: with a weak tag or another date, everything is sent. */
export function isRangeCurrent(headers: Headers, { etag, modifiedMs }: Validators): boolean {
  const ifRange = headers["if-range"];
  if (ifRange === undefined) return true;
  if (typeof ifRange !== "string") return false;
  return ifRange.trim() === etag || parseHttpDate(ifRange) === wholeSeconds(modifiedMs);
}

function listTags(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}

function wholeSeconds(timeMs: number): number {
  return Math.floor(timeMs / 1000) * 1000;
}

const httpDates = [
  /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
];

/** Only the three forms of RFC 9110 §5.6.7. Anything else is NaN, for which every comparison is false. */
function parseHttpDate(text: string | undefined): number {
  const date = text?.trim() ?? "";
  if (!httpDates.some((form) => form.test(date))) return Number.NaN;
  return Date.parse(date.endsWith("GMT") ? date : `${date} GMT`);
}

/** "all": no usable range was requested, send everything. "none": nothing in the requested range exists. */
export type RangeAnswer = ByteRange | "all" | "none";

/** One byte range; several ranges, other units and malformed ones are ignored (RFC 9110 §14.2). */
export function parseRange(header: string | undefined, sizeBytes: number): RangeAnswer {
  const match = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i.exec(header?.trim() ?? "");
  if (match === null) return "all";
  const [, first, last, suffix] = match;
  if (first === undefined) {
    const length = Math.min(Number(suffix), sizeBytes);
    return length === 0 ? "none" : { start: sizeBytes - length, end: sizeBytes - 1 };
  }
  const start = Number(first);
  const end = last === "" || last === undefined ? Number.POSITIVE_INFINITY : Number(last);
  if (end < start) return "all";
  return start >= sizeBytes ? "none" : { start, end: Math.min(end, sizeBytes - 1) };
}
