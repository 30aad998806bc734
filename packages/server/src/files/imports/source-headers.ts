import type { IncomingHttpHeaders } from "node:http";
import { ETAG_MAX } from "@upstow/contract";

/** Servers send UTF-8 as it is, where only ASCII is allowed; Node reads its bytes as Latin-1. */
export function readLocation({ location }: IncomingHttpHeaders): string | null {
  const toEscape = (byte: string) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`;
  return location?.replaceAll(/[\x80-\xff]/g, toEscape) || null;
}

/**
 * Encodings that leave the bytes unchanged. Some stores keep `aws-chunked` from the object's upload; some servers send a
 * charset or a mail encoding.
 */
const plainEncodings = ["", "identity", "chunked", "aws-chunked", "none", "binary", "8bit", "utf-8"];

/** Transfer encodings other than `chunked` are left to us as well. */
export function isPlain(headers: IncomingHttpHeaders): boolean {
  const encodings = `${headers["content-encoding"] ?? ""},${headers["transfer-encoding"] ?? ""}`;
  return encodings.split(",").every((name) => plainEncodings.includes(name.trim().toLowerCase()));
}

export function readLength(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Null unless it goes from the wanted byte to the end. */
export function readRange(text: string | undefined, fromByte: number): { totalBytes: number } | null {
  const [, first, last, total] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(text ?? "") ?? [];
  if (Number(first) !== fromByte || Number(last) !== Number(total) - 1) return null;
  return { totalBytes: Number(total) };
}

export function strongEtag(etag: string | undefined): string | null {
  return etag !== undefined && etag.length <= ETAG_MAX && /^"[\x21\x23-\x7e]*"$/.test(etag) ? etag : null;
}
