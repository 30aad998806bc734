import { BucketFault } from "./s3-error.ts";

/** As in S3 and all compatible stores. */
export const mostParts = 10_000;

// Etags go into response headers and rows, upload ids into URLs and rows.
const etagPattern = /^[\x21\x23-\x7e]{1,256}$/;
const uploadIdPattern = /^[\x21-\x7e]{1,2048}$/;
const longestTime = 64;
/** S3 allows 1,024 bytes. */
const longestKey = 1024;

/** A size or count; Content-Length is missing if the bucket did not send it. */
export function readSize(text: string | undefined): number {
  const size = /^\d{1,16}$/.test(text ?? "") ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(size)) throw new BucketFault("the bucket sent a size that is not a number");
  return size;
}

export function readPartNumber(text: string): number {
  const number = readSize(text);
  if (number > mostParts) throw new BucketFault("the bucket sent a part number that S3 does not have");
  return number;
}

export const unquote = (etag: string) => etag.replaceAll('"', "");

/** Without quotes. */
export function readEtag(text: string | undefined): string {
  const etag = unquote(text ?? "");
  if (!etagPattern.test(etag)) throw new BucketFault("the bucket sent no usable ETag");
  return etag;
}

export function readUploadId(text: string): string {
  if (!uploadIdPattern.test(text)) throw new BucketFault("the bucket started an upload without a usable id");
  return text;
}

/** Epoch milliseconds. */
export function readTime(text: string | undefined): number {
  const time = Date.parse((text ?? "").slice(0, longestTime));
  if (!Number.isSafeInteger(time)) throw new BucketFault("the bucket sent an invalid time");
  return time;
}

/** A listed key. One outside the prefix could be deleted, or mistaken for another object. */
export function readKey(key: string, prefix: string): string {
  if (!key.startsWith(prefix)) throw new BucketFault("the bucket listed a key outside the requested prefix");
  if (Buffer.byteLength(key) > longestKey) throw new BucketFault("the bucket listed a key that is too long");
  return key;
}
