import type { ServerResponse } from "node:http";
import type { FastifyReply } from "fastify";
import type { ObjectStream } from "../storage/object-store.ts";

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
