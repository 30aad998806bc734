import type { ByteRange, ReceivedPart } from "../object-store.ts";
import {
  mostParts,
  readEtag,
  readPartNumber,
  readSize,
  readTime,
  readUploadId,
  unquote,
} from "./bucket-values.ts";
import { encodePath } from "./location.ts";
import { describeObject, type ObjectHeaders, putDeadlineOf } from "./object-calls.ts";
import { type S3Calls, withDeadline } from "./s3-call.ts";
import type { ListOptions } from "./s3-client.ts";
import { BucketFault, hasS3Code, isMissing, S3Error } from "./s3-error.ts";
import { childrenOf, escapeXml, textOf, type XmlElement } from "./xml.ts";

export interface Upload {
  key: string;
  uploadId: string;
}

export interface PartCopy extends Upload {
  fromKey: string;
  /** As of `CopyRequest`. */
  etag: string | null;
  partNumber: number;
  range: ByteRange;
  deadlineMs: number;
}

export interface MultipartCalls {
  create(key: string, headers: ObjectHeaders): Promise<string>;
  /** Null if there is no such upload. */
  findParts(upload: Upload): Promise<ReceivedPart[] | null>;
  putPart(part: Upload & { partNumber: number; bytes: Uint8Array }): Promise<{ etag: string }>;
  copyPart(copy: PartCopy): Promise<{ etag: string }>;
  complete(
    upload: Upload & { parts: { partNumber: number; etag: string }[]; guard?: Record<string, string> },
  ): Promise<void>;
  /** An upload that does not exist counts as aborted. */
  abort(upload: Upload): Promise<void>;
}

// Assembling thousands of parts takes some stores minutes.
const completeDeadlineMs = 120_000;
/** For a list of parts. Stores return 1,000 of 10,000 at once, or fewer. */
const mostPages = 500;

export function createMultipartCalls(
  { call }: S3Calls,
  bucket: string,
  { pageSize, listDeadlineMs }: ListOptions,
): MultipartCalls {
  async function listParts({ key, uploadId }: Upload, signal: AbortSignal): Promise<ReceivedPart[]> {
    const parts: ReceivedPart[] = [];
    for (let [marker, page] = [0, 1]; ; page++) {
      const query = { uploadId, "max-parts": String(pageSize), "part-number-marker": String(marker) };
      const { xml } = await call({ method: "GET", key, query, signal });
      if (xml === null) throw new S3Error(502, "", "a list of parts was cut off");
      for (const part of childrenOf(xml, "Part")) parts.push(toPart(part));
      if (parts.length > mostParts) throw new BucketFault("the bucket lists more parts than an upload has");
      if (textOf(xml, "IsTruncated") !== "true") return parts;
      const next = readPartNumber(textOf(xml, "NextPartNumberMarker"));
      if (next <= marker || page >= mostPages)
        throw new BucketFault("the bucket's list of parts does not advance");
      marker = next;
    }
  }

  return {
    async create(key, headers) {
      const answer = await call({
        method: "POST",
        key,
        query: { uploads: "" },
        headers: describeObject(headers),
      });
      return readUploadId(textOf(answer.xml, "UploadId"));
    },

    async findParts(upload) {
      try {
        const parts = await withDeadline(listDeadlineMs, (signal) => listParts(upload, signal));
        return parts.sort((a, b) => a.partNumber - b.partNumber);
      } catch (error) {
        if (isNoUpload(error)) return null;
        throw error;
      }
    },

    async putPart({ key, uploadId, partNumber, bytes }) {
      const query = { uploadId, partNumber: String(partNumber) };
      const deadlineMs = putDeadlineOf(bytes);
      const answer = await call({ method: "PUT", key, query, body: bytes, deadlineMs });
      return { etag: readEtag(answer.headers.etag) };
    },

    async copyPart({ key, uploadId, fromKey, etag, partNumber, range, deadlineMs }) {
      const { xml } = await call({
        method: "PUT",
        key,
        query: { uploadId, partNumber: String(partNumber) },
        headers: {
          "x-amz-copy-source": `/${bucket}/${encodePath(fromKey)}`,
          ...(etag === null ? {} : { "x-amz-copy-source-if-match": `"${etag}"` }),
          "x-amz-copy-source-range": `bytes=${range.start}-${range.end}`,
        },
        deadlineMs,
      });
      if (xml === null) throw new S3Error(502, "", "the response to a copy was cut off");
      return { etag: readEtag(textOf(xml, "ETag")) };
    },

    async complete({ key, uploadId, parts, guard = {} }) {
      const items = parts.map(
        ({ partNumber, etag }) =>
          `<Part><PartNumber>${partNumber}</PartNumber><ETag>&quot;${escapeXml(unquote(etag))}&quot;</ETag></Part>`,
      );
      const body = `<CompleteMultipartUpload>${items.join("")}</CompleteMultipartUpload>`;
      const headers = { ...guard, "content-type": "application/xml" };
      await call({ method: "POST", key, query: { uploadId }, headers, body, deadlineMs: completeDeadlineMs });
    },

    async abort({ key, uploadId }) {
      try {
        await call({ method: "DELETE", key, query: { uploadId } });
      } catch (error) {
        if (!isNoUpload(error)) throw error;
      }
    },
  };
}

/** Some stores report an id that they did not create as an invalid argument. */
export function isNoUpload(error: unknown): boolean {
  return isMissing(error) || hasS3Code(error, "InvalidArgument");
}

function toPart(part: XmlElement): ReceivedPart {
  return {
    partNumber: readPartNumber(textOf(part, "PartNumber")),
    etag: readEtag(textOf(part, "ETag")),
    sizeBytes: readSize(textOf(part, "Size")),
    receivedAt: readTime(textOf(part, "LastModified")),
  };
}
