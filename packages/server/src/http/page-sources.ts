import type { FastifyRequest } from "fastify";
import type { Config } from "../config.ts";

/** What a policy can name. It has no form for an IPv6 address, and Host is a stranger's text. */
const nameable = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?$/i;

/** Paths below the host that a page was opened at, as sources for its content security policy. */
export type PageSources = (...paths: string[]) => string;

/**
 * 'self' would be too much: uploaded files may be served from the same host, and a script among them must not run as
 * part of a page. Without a scheme a source counts for that of the page, whatever a proxy says about it. The public
 * URL's host is named too, because a proxy may leave the port out of Host.
 */
export function pageSources({ publicUrl }: Pick<Config, "publicUrl">, request: FastifyRequest): PageSources {
  const { host } = request;
  if (!nameable.test(host)) return () => "'self'";
  const hosts = new Set([host, new URL(publicUrl).host].filter((name) => nameable.test(name)));
  return (...paths) => [...hosts].flatMap((name) => paths.map((path) => name + path)).join(" ");
}
