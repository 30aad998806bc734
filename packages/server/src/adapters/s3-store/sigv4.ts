import { createHmac, createSecretKey, hash, type KeyObject } from "node:crypto";
import { encodeQuery, encodeUri } from "./uri.ts";

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

export interface SignerOptions extends Credentials {
  region: string;
  /** Epoch milliseconds, by the real clock: the other side compares them with its own. */
  now: () => number;
}

type Strings = Readonly<Record<string, string>>;

export interface Presign {
  method: string;
  origin: string;
  /** Encoded. */
  path: string;
  query?: Strings;
  /** Lower-case names; the request must carry exactly these. */
  headers: Strings;
  expiresInSec: number;
}

/** AWS Signature Version 4 for S3, by hand: a signing key is derived once a day, not once a URL. */
export interface Signer {
  /** Headers to add to a request that carries `headers` and a body with this SHA-256. */
  signHeaders(request: SignedRequest): Record<string, string>;
  presign(request: Presign): string;
  /** One URL per part number, in the order given. */
  presignParts(request: Omit<Presign, "method" | "query">, uploadId: string, partNumbers: number[]): string[];
}

export interface SignedRequest {
  method: string;
  path: string;
  query: string;
  /** Lower-case names, with `host`. */
  headers: Strings;
  bodySha256: string;
}

const algorithm = "AWS4-HMAC-SHA256";
const unsignedPayload = "UNSIGNED-PAYLOAD";

export function createSigner({ accessKeyId, secretAccessKey, region, now }: SignerOptions): Signer {
  let cached: { day: string; key: KeyObject } | undefined;

  function keyFor(day: string): KeyObject {
    if (cached?.day === day) return cached.key;
    let key: Buffer = Buffer.from(`AWS4${secretAccessKey}`);
    for (const part of [day, region, "s3", "aws4_request"])
      key = createHmac("sha256", key).update(part).digest();
    // A key object is several times faster to use than its bytes.
    cached = { day, key: createSecretKey(key) };
    return cached.key;
  }

  function moment() {
    const time = new Date(now()).toISOString().replaceAll(/[:-]|\.\d{3}/g, "");
    const day = time.slice(0, 8);
    return { time, scope: `${day}/${region}/s3/aws4_request`, key: keyFor(day) };
  }

  const sign = ({ time, scope, key }: ReturnType<typeof moment>, canonical: string) =>
    createHmac("sha256", key)
      .update(`${algorithm}\n${time}\n${scope}\n${hash("sha256", canonical)}`)
      .digest("hex");

  /** What the query of a presigned URL holds besides the request's own, and what is signed after it. */
  function prepare({ headers, expiresInSec }: Pick<Presign, "headers" | "expiresInSec">) {
    const at = moment();
    const { names, lines } = canonicalHeaders(headers);
    const query = {
      "X-Amz-Algorithm": algorithm,
      "X-Amz-Credential": `${accessKeyId}/${at.scope}`,
      "X-Amz-Date": at.time,
      "X-Amz-Expires": String(expiresInSec),
      "X-Amz-SignedHeaders": names,
    };
    return { at, query, tail: `${lines}\n${names}\n${unsignedPayload}` };
  }

  return {
    signHeaders({ method, path, query, headers, bodySha256 }) {
      const at = moment();
      const added = { "x-amz-date": at.time, "x-amz-content-sha256": bodySha256 };
      const { names, lines } = canonicalHeaders({ ...headers, ...added });
      const signature = sign(at, `${method}\n${path}\n${query}\n${lines}\n${names}\n${bodySha256}`);
      const authorization = `${algorithm} Credential=${accessKeyId}/${at.scope}, SignedHeaders=${names}, Signature=${signature}`;
      return { ...added, authorization };
    },

    presign({ method, origin, path, query = {}, headers, expiresInSec }) {
      const prepared = prepare({ headers, expiresInSec });
      const text = encodeQuery({ ...prepared.query, ...query });
      const signature = sign(prepared.at, `${method}\n${path}\n${text}\n${prepared.tail}`);
      return `${origin}${path}?${text}&X-Amz-Signature=${signature}`;
    },

    presignParts({ origin, path, headers, expiresInSec }, uploadId, partNumbers) {
      const { at, query, tail } = prepare({ headers, expiresInSec });
      // In the order of their bytes, partNumber and uploadId come after every X-Amz name.
      const before = `${encodeQuery(query)}&partNumber=`;
      const after = `&uploadId=${encodeUri(uploadId)}`;
      return partNumbers.map((partNumber) => {
        const text = before + partNumber + after;
        const signature = sign(at, `PUT\n${path}\n${text}\n${tail}`);
        return `${origin}${path}?${text}&X-Amz-Signature=${signature}`;
      });
    },
  };
}

function canonicalHeaders(headers: Strings): { names: string; lines: string } {
  const sorted = Object.keys(headers).sort();
  const lines = sorted.map((name) => `${name}:${headers[name]?.trim().replaceAll(/\s+/g, " ")}\n`);
  return { names: sorted.join(";"), lines: lines.join("") };
}
