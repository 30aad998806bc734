import type { FastifyRequest } from "fastify";
import type { Config } from "../config.ts";

/** Hosts that a policy can express. It has no syntax for IPv6 addresses, and Host is untrusted. */
const nameable = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?$/i;

/** Paths below the page's host, as sources for its content security policy. */
export type PageSources = (...paths: string[]) => string;

/**
 * 'self' would be too broad: uploaded files may be served from the same host, and a script among them must not run as
 * part of a page. A source without a scheme uses the page's scheme, whatever a proxy reports. The public URL's host is
 * included too, because a proxy may omit the port from Host.
 */
export function pageSources({ publicUrl }: Pick<Config, "publicUrl">, request: FastifyRequest): PageSources {
  const { host } = request;
  if (!nameable.test(host)) return () => "'self'";
  const hosts = new Set([host, new URL(publicUrl).host].filter((name) => nameable.test(name)));
  return (...paths) => [...hosts].flatMap((name) => paths.map((path) => name + path)).join(" ");
}
