import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { crc32 } from "node:zlib";
import { AppError, invalid } from "../../../kernel/errors.ts";

/** A whole number in a header; undefined if there is none, null if it is something else. */
export function readCount(value: string | string[] | undefined): number | undefined | null {
  if (value === undefined) return undefined;
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

/** Null with chunked encoding, 0 without a body. */
export function contentLengthOf({ headers }: { headers: IncomingHttpHeaders }): number | null {
  if (headers["transfer-encoding"] !== undefined) return null;
  return readCount(headers["content-length"]) ?? 0;
}

export const typePattern = /^[A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+([ \t]*;[ -~]*)?$/;

/** The type a client declares for its file; an invalid one counts as unknown. */
export function fileType(stated: string | undefined): string {
  return stated !== undefined && stated.length <= 255 && typePattern.test(stated)
    ? stated
    : "application/octet-stream";
}

/** The file name in a Content-Disposition: `filename*` in UTF-8 before `filename`, which may be quoted. */
export function readDisposition(header: string | undefined): string | null {
  if (header === undefined) return null;
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header)?.[1];
  const decoded = extended === undefined ? null : decode(extended);
  if (decoded !== null) return clean(decoded);
  const quoted = /;\s*filename\s*=\s*"((?:[^"\\]|\\.)*)"/i.exec(header)?.[1];
  if (quoted !== undefined) return clean(asUtf8(quoted.replaceAll(/\\(.)/g, "$1")));
  const plain = /;\s*filename\s*=\s*([^;\s"]+)/i.exec(header)?.[1];
  return plain === undefined ? null : clean(asUtf8(plain));
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Node reads headers as Latin-1, and browsers send UTF-8. */
function asUtf8(text: string): string {
  const decoded = Buffer.from(text, "latin1").toString("utf8");
  return decoded.includes("\ufffd") ? text : decoded;
}

const clean = (name: string) => name.toWellFormed().replaceAll("\0", "");

export const checksumAlgorithms = ["sha1", "sha256", "md5", "crc32"] as const;

interface Checksum {
  update(chunk: Buffer): void;
  verify(): void;
}

/** Of `<algorithm> <base64>`. A body that does not match is 460, and nothing of it is kept. */
export function readChecksum(header: string | string[] | undefined): Checksum | undefined {
  if (header === undefined) return undefined;
  const [algorithm = "", expected = "", ...rest] = String(header).split(" ");
  const known = checksumAlgorithms.find((name) => name === algorithm);
  const isBase64 = /^[A-Za-z0-9+/]{4,88}={0,2}$/.test(expected);
  if (known === undefined || !isBase64 || rest.length > 0)
    throw invalid(
      "Upload-Checksum",
      "must be an algorithm and a checksum in base64",
      `Algorithms: ${checksumAlgorithms.join(", ")}.`,
    );
  const sum = known === "crc32" ? createCrc32() : createSum(known);
  return {
    update: sum.update,
    verify() {
      if (sum.digest().equals(Buffer.from(expected, "base64"))) return;
      throw new AppError("VALIDATION_ERROR", "The checksum does not match the received bytes.", {
        status: 460,
        suggestion: "Nothing from this request was stored. Send it again.",
      });
    },
  };
}

/** RFC 9530. Unknown algorithms are ignored, as it requires. */
export function readContentDigest(header: string | string[] | undefined): Checksum | undefined {
  const found = /(?:^|,)\s*sha-(256|512)=:([A-Za-z0-9+/]+={0,2}):/.exec(String(header ?? ""));
  const [, bits, expected = ""] = found ?? [];
  if (bits === undefined) return undefined;
  const hash = createHash(`sha${bits}`);
  return {
    update: (chunk) => void hash.update(chunk),
    verify() {
      if (hash.digest().equals(Buffer.from(expected, "base64"))) return;
      throw invalid("Content-Digest", "does not match the received bytes", "Send the request again.");
    },
  };
}

function createSum(algorithm: string) {
  const hash = createHash(algorithm);
  return { update: (chunk: Buffer) => void hash.update(chunk), digest: () => hash.digest() };
}

function createCrc32() {
  let value = 0;
  return {
    update(chunk: Buffer) {
      value = crc32(chunk, value);
    },
    digest() {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes;
    },
  };
}
