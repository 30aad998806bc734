import type { FastifyReply, FastifyRequest } from "fastify";

/** A complete response to a plain GET. */
export interface WholeAnswer {
  /** Names and values by turns; the first is the request's id, set when it is sent. */
  headers: string[];
  bytes: Buffer;
}

export interface WholeAnswers {
  /** The cached response, if the request is for the whole file. */
  find(object: object, request: FastifyRequest): WholeAnswer | undefined;
  keep(object: object, headers: Record<string, string>, bytes: Buffer): void;
}

/** For all responses together. */
const mostBytes = 16 * 1024 * 1024;
const special = [
  "range",
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-unmodified-since",
  "if-range",
];

/** Caches complete responses for small files that are read often. */
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
      answers.set(object, { headers: ["x-request-id", "", ...Object.entries(headers).flat()], bytes });
    },
  };
}

export function sendWhole(reply: FastifyReply, { headers, bytes }: WholeAnswer): void {
  reply.hijack();
  const { raw, request, server } = reply;
  // A server that is closing must not wait for this connection's next request.
  if (!server.server.listening) raw.shouldKeepAlive = false;
  headers[1] = request.id;
  const all = request.hsts === undefined ? headers : [...headers, "strict-transport-security", request.hsts];
  raw.writeHead(200, all);
  raw.end(bytes);
}
