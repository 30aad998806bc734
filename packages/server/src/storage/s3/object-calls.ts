import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { ReadOptions } from "../object-store.ts";
import { readEtag, readSize } from "./bucket-values.ts";
import { encodePath } from "./location.ts";
import type { S3Calls } from "./s3-call.ts";
import { isMissing, S3Error } from "./s3-error.ts";
import { textOf } from "./xml.ts";

export interface ObjectHead {
  sizeBytes: number;
  /** Without quotes. */
  etag: string;
  contentType: string;
  /** As reported by the bucket, if at all. */
  lastModified: string | undefined;
}

export interface ObjectBody {
  head: ObjectHead;
  stream: IncomingMessage;
}

export interface ObjectHeaders {
  contentType: string;
  contentDisposition?: string;
}

export interface CopyRequest extends ObjectHeaders {
  fromKey: string;
  toKey: string;
  /** The source must still match this, unless it is null. */
  etag: string | null;
  /** Headers that make the copy fail if the target exists. */
  guard: Record<string, string>;
  deadlineMs: number;
}

export interface ObjectCalls {
  put(key: string, bytes: Uint8Array, headers: ObjectHeaders): Promise<{ etag: string }>;
  findHead(key: string, options?: { signal?: AbortSignal }): Promise<ObjectHead | null>;
  /** With `etag`, only the object that has it. */
  get(key: string, options: ReadOptions & { isDownload?: boolean }): Promise<ObjectBody>;
  /** Not retried: the caller checks first whether the last attempt succeeded after all. */
  copy(request: CopyRequest): Promise<{ etag: string }>;
  remove(key: string): Promise<void>;
}

const putDeadlineMs = 15_000;
const slowestBytesPerMs = 100;

export const putDeadlineOf = (bytes: Uint8Array) => putDeadlineMs + bytes.byteLength / slowestBytesPerMs;

/** Replaces the metadata, so that headers a client added to its PUT are not copied. */
export function describeObject({ contentType, contentDisposition }: ObjectHeaders): Record<string, string> {
  return {
    "content-type": contentType,
    ...(contentDisposition === undefined ? {} : { "content-disposition": contentDisposition }),
  };
}

export function createObjectCalls({ call, open }: S3Calls, bucket: string): ObjectCalls {
  return {
    async put(key, bytes, headers) {
      const answer = await call({
        method: "PUT",
        key,
        body: bytes,
        headers: describeObject(headers),
        deadlineMs: putDeadlineOf(bytes),
      });
      return { etag: readEtag(answer.headers.etag) };
    },

    async findHead(key, options = {}) {
      try {
        return toHead((await call({ method: "HEAD", key, ...options })).headers);
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },

    async get(key, { range, etag, signal, isDownload = false }) {
      const headers = {
        ...(range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` }),
        ...(etag === undefined ? {} : { "if-match": `"${etag}"` }),
      };
      const answer = await open({
        method: "GET",
        key,
        headers,
        isDownload,
        ...(signal === undefined ? {} : { signal }),
      });
      try {
        return { head: toHead(answer.headers), stream: answer.stream };
      } catch (error) {
        answer.stream.destroy();
        throw error;
      }
    },

    async copy({ fromKey, toKey, etag, guard, deadlineMs, ...headers }) {
      const { xml } = await call({
        method: "PUT",
        key: toKey,
        headers: {
          ...describeObject(headers),
          ...guard,
          "x-amz-copy-source": `/${bucket}/${encodePath(fromKey)}`,
          ...(etag === null ? {} : { "x-amz-copy-source-if-match": `"${etag}"` }),
          "x-amz-metadata-directive": "REPLACE",
        },
        deadlineMs,
        once: true,
      });
      if (xml === null) throw new S3Error(502, "", "the response to a copy was cut off");
      return { etag: readEtag(textOf(xml, "ETag")) };
    },

    async remove(key) {
      try {
        await call({ method: "DELETE", key });
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
  };
}

function toHead(headers: IncomingHttpHeaders): ObjectHead {
  return {
    sizeBytes: readSize(headers["content-length"]),
    etag: readEtag(headers.etag),
    contentType: headers["content-type"] ?? "application/octet-stream",
    lastModified: headers["last-modified"],
  };
}
