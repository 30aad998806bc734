import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../deps.ts";
import { isForwarded } from "../http/require-https.ts";
import type { ObjectStream } from "../storage/object-store.ts";
import type { RangeAnswer } from "./conditional.ts";

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
