import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../deps.ts";
import { isForwarded } from "../http/require-https.ts";
import type { ObjectStream } from "../storage/object-store.ts";
import type { RangeAnswer } from "./conditional.ts";

/**
 * Writes a stream to the client by hand: each chunk goes back to the store once the kernel has it, because new memory
 * for every megabyte keeps the garbage collector busier than the disk. A stream of another length than was declared
 * costs the connection: on one that lives on, the client would take what is too much for an answer of ours, or wait
 * for what is missing.
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
    // The client must not take what it has for the whole.
    raw.destroy();
  }
}

/** Resolves when the kernel has taken the chunk; rejects when the client is gone. */
function write(response: ServerResponse, chunk: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    if (response.destroyed) {
      reject(new Error("the client has gone"));
      return;
    }
    const onClose = () => reject(new Error("the client has gone"));
    response.once("close", onClose);
    response.write(chunk, (error) => {
      response.off("close", onClose);
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Tells a proxy which file to send in our place. */
interface Handover {
  header: string;
  path: string;
}

/**
 * Null when the answer's bytes have to come from here: nothing is configured, the peer is not our proxy or asks for
 * itself, it would answer otherwise than we do, or the object is not one file. What the request itself says about the
 * place never counts: a client behind a proxy that passes unknown headers on could name any internal one.
 */
export async function findHandover(
  deps: Deps,
  request: FastifyRequest,
  storeKey: string,
  asked: RangeAnswer,
): Promise<Handover | null> {
  const { sendfile, trustedProxies } = deps.config;
  if (sendfile === null || !trustedProxies.contains(request.socket.remoteAddress ?? "")) return null;
  // Whoever shares the proxy's machine has its address too, and could do nothing with a path.
  if (!isForwarded(request.headers) || !isJudgedAlike(request.headers, asked)) return null;
  const path = await deps.store.localFiles?.findPath(storeKey);
  return path ? { header: sendfile.header, path: sendfile.prefix + path } : null;
}

/**
 * The proxy judges the request again, by the file on its disk: it knows neither our ETag nor our date, answers several
 * or malformed ranges in its own way, and cannot read a number of more than 64 bits.
 */
function isJudgedAlike(headers: IncomingHttpHeaders, asked: RangeAnswer): boolean {
  const { range } = headers;
  if (["if-match", "if-unmodified-since", "if-range"].some((name) => headers[name] !== undefined))
    return false;
  return range === undefined || (asked !== "all" && !/\d{19}/.test(range));
}
