import type { FastifyReply, FastifyRequest } from "fastify";

/** An answer to a plain GET, ready to be written. */
export interface WholeAnswer {
  headers: string[];
  bytes: Buffer;
}

export interface WholeAnswers {
  /** The answer that was kept, if the request asks for nothing but the whole. */
  find(object: object, request: FastifyRequest): WholeAnswer | undefined;
  keep(object: object, headers: Record<string, string>, bytes: Buffer): void;
}

/** For all answers together. */
const mostBytes = 16 * 1024 * 1024;
const special = [
  "range",
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-unmodified-since",
  "if-range",
];

/** Small files that are read often are answered without putting the same answer together again. */
export function createWholeAnswers(): WholeAnswers {
  let answers = new WeakMap<object, WholeAnswer>();
  let keptBytes = 0;
  return {
    find(object, { method, headers }) {
      const answer = answers.get(object);
      if (answer === undefined || method !== "GET") return undefined;
      for (const name of special) if (headers[name] !== undefined) return undefined;
      return answer;
    },
    keep(object, headers, bytes) {
      if (keptBytes + bytes.length > mostBytes) {
        answers = new WeakMap();
        keptBytes = 0;
      }
      keptBytes += bytes.length;
      answers.set(object, { headers: Object.entries(headers).flat(), bytes });
    },
  };
}

export function sendWhole(reply: FastifyReply, { headers, bytes }: WholeAnswer): void {
  reply.hijack();
  const { raw, request, server } = reply;
  // A server that is closing must not wait for this connection's next request.
  if (!server.server.listening) raw.shouldKeepAlive = false;
  const hsts = reply.getHeader("strict-transport-security");
  const own = ["x-request-id", request.id];
  if (typeof hsts === "string") own.push("strict-transport-security", hsts);
  raw.writeHead(200, [...own, ...headers]);
  raw.end(bytes);
}
