import type { IncomingHttpHeaders } from "node:http";
import type { FastifyRequest } from "fastify";
import type { Deps } from "../deps.ts";
import { isForwarded } from "../http/require-https.ts";
import type { RangeAnswer } from "./range.ts";

/** Tells a proxy which file to send in our place. */
export interface Handover {
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
  const path = await deps.store.findPath?.(storeKey);
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
