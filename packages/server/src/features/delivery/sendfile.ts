import type { FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";

/** Tells a proxy which file to send in our place. */
export interface Handover {
  header: string;
  path: string;
}

/**
 * Null when the answer's bytes have to come from here: nothing is configured, the peer is not our proxy, or the
 * object is not one file. What the request itself says about it never counts: a client behind a proxy that passes
 * unknown headers on could name any internal place.
 */
export async function findHandover(
  deps: Deps,
  request: FastifyRequest,
  storeKey: string,
): Promise<Handover | null> {
  const { sendfile, trustedProxies } = deps.config;
  if (sendfile === null || !trustedProxies.contains(request.socket.remoteAddress ?? "")) return null;
  const path = await deps.store.findPath?.(storeKey);
  return path ? { header: sendfile.header, path: sendfile.prefix + path } : null;
}
