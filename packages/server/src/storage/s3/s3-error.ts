import { StorageFull } from "../../kernel/errors.ts";
import { StorageUnavailable } from "../object-store.ts";
import { parseXml, textOf } from "./xml.ts";

const mostQuoted = 200;
const codePattern = /^[\w.-]{1,64}$/;

/** Untrusted text from a bucket, made safe for a log line or a page. */
export function quote(text: string): string {
  const printable = text
    .slice(0, 2 * mostQuoted)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, " ")
    .trim();
  return printable.length > mostQuoted ? `${printable.slice(0, mostQuoted - 1)}…` : printable;
}

/** The bucket violated the protocol, so retrying is useless. */
export class BucketFault extends StorageUnavailable {}

/** An error response. Unhandled ones mean that the store does not work. */
export class S3Error extends StorageUnavailable {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    const known = codePattern.test(code) ? code : "";
    const words = quote(message);
    super(
      `the bucket returned ${status}${known === "" ? "" : ` ${known}`}${words === "" ? "" : `: ${words}`}`,
    );
    this.status = status;
    this.code = known;
  }
}

const fullCodes = [
  "QuotaExceeded",
  "ServiceQuotaExceeded",
  "StorageQuotaExceeded",
  "InsufficientStorage",
  "InsufficientCapacity",
  "XMinioStorageFull",
  "XMinioAdminBucketQuotaExceeded",
  "XAmzBucketQuotaExceeded",
];
const passingCodes = [
  "InternalError",
  "OperationAborted",
  "RequestTimeout",
  "ServiceUnavailable",
  "SlowDown",
  "Throttling",
  "TooManyRequests",
];

/** The statuses of errors that arrive after a 200. */
const statusOfCode: Record<string, number> = {
  AccessDenied: 403,
  NoSuchKey: 404,
  NoSuchUpload: 404,
  PreconditionFailed: 412,
};

/** `body` may be empty: responses to HEAD have none. */
export function toS3Error(status: number, body: string): S3Error | StorageFull {
  const root = parseXml(body);
  const error = root?.name === "Error" ? root : null;
  const [code, message] = [textOf(error, "Code"), textOf(error, "Message")];
  if (status === 507 || fullCodes.includes(code))
    return new StorageFull(`the bucket is full (${code || status})`);
  const isLate = status < 300;
  const meant = isLate ? (statusOfCode[code] ?? (passingCodes.includes(code) ? 500 : 400)) : status;
  return new S3Error(meant, code, message);
}

/** Whether a retry may succeed. Broken connections are not S3Errors and may always be retried. */
export function isPassing(error: unknown): boolean {
  if (error instanceof StorageFull || error instanceof BucketFault || isOurMistake(error)) return false;
  if (!(error instanceof S3Error)) return true;
  return error.status >= 500
    ? error.status !== 501
    : error.status === 429 || passingCodes.includes(error.code);
}

/** Programming errors, not network errors. */
export function isOurMistake(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError;
}

export function isStatus(error: unknown, ...statuses: number[]): boolean {
  return error instanceof S3Error && statuses.includes(error.status);
}

const unknownCallerCodes = [
  "ExpiredToken",
  "InvalidAccessKeyId",
  "InvalidToken",
  "RequestTimeTooSkewed",
  "SignatureDoesNotMatch",
];

/** Rejected because of the credentials or the time, so it says nothing about the object. */
export function isUnknownCaller(error: unknown): boolean {
  return hasS3Code(error, ...unknownCallerCodes);
}

/** The object or upload does not exist. A missing bucket is a different matter. */
export function isMissing(error: unknown): boolean {
  return error instanceof S3Error && error.status === 404 && error.code !== "NoSuchBucket";
}

export function hasS3Code(error: unknown, ...codes: string[]): boolean {
  return error instanceof S3Error && codes.includes(error.code);
}
