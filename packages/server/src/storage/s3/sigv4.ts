import { createHmac, createSecretKey, hash, type KeyObject } from "node:crypto";
import { encodeQuery, encodeUri } from "./location.ts";

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** Comes with temporary credentials. */
  sessionToken?: string | undefined;
}

export interface SignerOptions extends S3Credentials {
  region: string;
  /** Epoch milliseconds of the real clock, because the other side compares them with its own. */
  now: () => number;
}

type Strings = Readonly<Record<string, string>>;

export interface Presign {
  method: string;
  origin: string;
  /** Encoded. */
  path: string;
  query?: Strings;
  /** Lower-case names; the request must have exactly these. */
  headers: Strings;
  expiresInSec: number;
}

/** AWS Signature Version 4 for S3, by hand, to derive the signing key once per day instead of once per URL. */
export interface Signer {
  /** Headers to add to a request with `headers` and a body with this SHA-256. */
  signHeaders(request: SignedRequest): Record<string, string>;
  presign(request: Presign): string;
  /** One URL per part number, in the given order. */
  presignParts(request: Omit<Presign, "method" | "query">, uploadId: string, partNumbers: number[]): string[];
}

export interface SignedRequest {
  method: string;
  path: string;
  query: string;
  /** Lower-case names, including `host`. */
  headers: Strings;
  bodySha256: string;
}

const algorithm = "AWS4-HMAC-SHA256";
const unsignedPayload = "UNSIGNED-PAYLOAD";

const looseSpace = /^\s|\s$|\s\s|[^\S ]/;

interface Moment {
  second: number;
  time: string;
  credential: string;
  key: KeyObject;
  signedHead: string;
  queryHead: string;
}

export function createSigner(options: SignerOptions): Signer {
  const { accessKeyId, secretAccessKey, sessionToken, region, now } = options;
  const tokenHeader: Strings = sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken };
  const tokenQuery = sessionToken === undefined ? "" : `&X-Amz-Security-Token=${encodeUri(sessionToken)}`;
  let derived: { day: string; key: KeyObject } | undefined;
  let latest: Moment | undefined;

  function keyFor(day: string): KeyObject {
    if (derived?.day === day) return derived.key;
    let key: Buffer = Buffer.from(`AWS4${secretAccessKey}`);
    for (const part of [day, region, "s3", "aws4_request"])
      key = createHmac("sha256", key).update(part).digest();
    // A key object is several times faster to use than its bytes.
    derived = { day, key: createSecretKey(key) };
    return derived.key;
  }

  /** Signatures have a resolution of one second, so all signatures within one share this. */
  function moment(): Moment {
    const second = Math.floor(now() / 1000);
    if (latest?.second === second) return latest;
    const time = new Date(second * 1000).toISOString().replaceAll(/[:-]|\.\d{3}/g, "");
    const day = time.slice(0, 8);
    const scope = `${day}/${region}/s3/aws4_request`;
    const credential = `${accessKeyId}/${scope}`;
    latest = {
      second,
      time,
      credential,
      key: keyFor(day),
      signedHead: `${algorithm}\n${time}\n${scope}\n`,
      queryHead: `X-Amz-Algorithm=${algorithm}&X-Amz-Credential=${encodeUri(credential)}&X-Amz-Date=${time}&X-Amz-Expires=`,
    };
    return latest;
  }

  const sign = ({ key, signedHead }: Moment, canonical: string) =>
    createHmac("sha256", key)
      .update(signedHead + hash("sha256", canonical))
      .digest("hex");

  /** What a presigned URL adds to the request's own query, and what is signed after it. */
  function prepare({ headers, expiresInSec }: Pick<Presign, "headers" | "expiresInSec">) {
    const at = moment();
    const { names, lines } = canonicalHeaders(headers);
    const query = `${at.queryHead}${expiresInSec}${tokenQuery}&X-Amz-SignedHeaders=${encodeUri(names)}`;
    return { at, query, tail: `${lines}\n${names}\n${unsignedPayload}` };
  }

  return {
    signHeaders({ method, path, query, headers, bodySha256 }) {
      const at = moment();
      const added = { "x-amz-date": at.time, "x-amz-content-sha256": bodySha256, ...tokenHeader };
      const { names, lines } = canonicalHeaders({ ...headers, ...added });
      const signature = sign(at, `${method}\n${path}\n${query}\n${lines}\n${names}\n${bodySha256}`);
      const authorization = `${algorithm} Credential=${at.credential}, SignedHeaders=${names}, Signature=${signature}`;
      return { ...added, authorization };
    },

    presign({ method, origin, path, query: ownQuery = {}, headers, expiresInSec }) {
      const { at, query, tail } = prepare({ headers, expiresInSec });
      const own = encodeQuery(ownQuery);
      const text = own === "" ? query : `${query}&${own}`.split("&").sort().join("&");
      const signature = sign(at, `${method}\n${path}\n${text}\n${tail}`);
      return `${origin}${path}?${text}&X-Amz-Signature=${signature}`;
    },

    presignParts({ origin, path, headers, expiresInSec }, uploadId, partNumbers) {
      const { at, query, tail } = prepare({ headers, expiresInSec });
      // In byte order, partNumber and uploadId come after every X-Amz name.
      const before = `${query}&partNumber=`;
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
  let lines = "";
  for (const name of sorted) lines += `${name}:${collapse(headers[name] ?? "")}\n`;
  return { names: sorted.join(";"), lines };
}

/** Hardly any value has spaces to trim, and checking costs less than replacing. */
function collapse(value: string): string {
  return looseSpace.test(value) ? value.trim().replaceAll(/\s+/g, " ") : value;
}
