import { hash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Config } from "../config.ts";

/** A page or an asset that is the same for everyone until the service is updated. */
export interface StaticFile {
  type: string;
  body: string | Buffer;
  /** Strong, of the bytes as they are; each encoding gets one derived from it. */
  etag: string;
  /** Its URL changes with its content. */
  isImmutable?: boolean;
}

export function toStaticFile(type: string, body: string | Buffer): StaticFile {
  return { type, body, etag: `"${hash("sha256", body).slice(0, 32)}"` };
}

type Encoding = "br" | "gzip";

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);
/** Fonts, pictures and packages are compressed already, and below this size a header costs more than is saved. */
const compressible = /^(?:text\/|image\/svg|application\/json)/;
const leastBytes = 512;

/** Each file is compressed once, when a browser first asks for it, and kept as long as the file itself. */
const compressed = new WeakMap<StaticFile, Map<Encoding, Promise<Buffer>>>();

function compress(file: StaticFile, encoding: Encoding): Promise<Buffer> {
  const known = compressed.get(file) ?? new Map<Encoding, Promise<Buffer>>();
  compressed.set(file, known);
  const found = known.get(encoding);
  if (found !== undefined) return found;
  const plain = Buffer.from(file.body);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 9,
    [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
  };
  const made = encoding === "br" ? brotli(plain, { params }) : zip(plain, { level: 9 });
  known.set(encoding, made);
  return made;
}

/** Sends a file as small as the client accepts it, or 304 to a client that has it. */
export async function sendStatic(
  request: FastifyRequest,
  reply: FastifyReply,
  file: StaticFile,
): Promise<FastifyReply> {
  const isCompressible = compressible.test(file.type) && file.body.length >= leastBytes;
  const encoding = isCompressible ? chooseEncoding(request.headers["accept-encoding"]) : null;
  const etag = encoding === null ? file.etag : file.etag.replace(/"$/, `-${encoding}"`);
  reply.headers({
    etag,
    "cache-control": file.isImmutable === true ? "public, max-age=31536000, immutable" : "no-cache",
  });
  if (isCompressible) addVary(reply, "accept-encoding");
  if (request.headers["if-none-match"] === etag) return reply.code(304).send();
  reply.type(file.type);
  if (encoding === null) return reply.send(file.body);
  return reply.header("content-encoding", encoding).send(await compress(file, encoding));
}

function addVary(reply: FastifyReply, name: string): void {
  const vary = reply.getHeader("vary");
  reply.header("vary", vary === undefined ? name : `${vary}, ${name}`);
}

/** Brotli where it is accepted. Nothing is compressed for clients that say nothing. */
export function chooseEncoding(accepted: string | string[] | undefined): Encoding | null {
  const offers = new Map(
    String(accepted ?? "")
      .toLowerCase()
      .split(",", 20)
      .map((offer) => {
        const [name = "", ...rest] = offer.split(";");
        return [name.trim(), !rest.some((part) => /^\s*q=0(?:\.0*)?\s*$/.test(part))];
      }),
  );
  const isAccepted = (name: Encoding) => offers.get(name) ?? offers.get("*") ?? false;
  return isAccepted("br") ? "br" : isAccepted("gzip") ? "gzip" : null;
}

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
