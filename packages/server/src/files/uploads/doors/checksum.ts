import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { AppError, invalid } from "../../../kernel/errors.ts";

export const checksumAlgorithms = ["sha1", "sha256", "md5", "crc32"] as const;

export interface Checksum {
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
      throw new AppError("VALIDATION_ERROR", "The checksum does not match the bytes that arrived.", {
        status: 460,
        suggestion: "Nothing of this request was kept. Send it again.",
      });
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
