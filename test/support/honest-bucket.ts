import { hash } from "node:crypto";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { type BucketAct, type BucketRequest, describePart, sendXml } from "./bucket-answers.ts";

interface Stored {
  body: Buffer;
  type: string;
  etag: string;
}

interface Upload extends Pick<BucketRequest, "key"> {
  type: string;
  parts: Map<number, Buffer>;
}

type Handle = (answer: ServerResponse, request: BucketRequest, body: Buffer) => void;

export interface HonestOptions {
  /** As buckets with keys of their own do, each write gets an etag of its own, whatever the bytes. */
  etagPerWrite?: boolean;
}

/** Just enough of S3, in memory, for the service to upload, copy, read and delete. Signatures are not checked. */
export function createHonestBucket({ etagPerWrite = false }: HonestOptions = {}): Handle {
  const objects = new Map<string, Stored>();
  let writes = 0;
  const keep = (key: string, body: Buffer, type: string): string => {
    const etag = etagPerWrite ? `"${++writes}"` : etagOf(body);
    objects.set(key, { body, type, etag });
    return etag;
  };
  const uploads = new Map<string, Upload>();
  let lastUpload = 0;

  const findSource = ({ headers }: BucketRequest) =>
    objects.get(decodeURIComponent(String(headers["x-amz-copy-source"])).replace(/^\/[^/]+\//, ""));
  const typeOf = ({ headers }: BucketRequest) => String(headers["content-type"] ?? "text/plain");
  const withUpload =
    (
      handle: (answer: ServerResponse, request: BucketRequest, upload: Upload, body: Buffer) => void,
    ): Handle =>
    (answer, request, body) => {
      const upload = uploads.get(request.query.get("uploadId") ?? "");
      if (upload === undefined) sendError(answer, 404, "NoSuchUpload");
      else handle(answer, request, upload, body);
    };

  const sendObject: Handle = (answer, { key, headers }) => {
    const found = objects.get(key);
    if (found === undefined) return sendError(answer, 404, "NoSuchKey");
    if ((headers["if-match"] ?? found.etag) !== found.etag)
      return sendError(answer, 412, "PreconditionFailed");
    const bytes = cut(found.body, headers.range);
    answer.writeHead(headers.range === undefined ? 200 : 206, {
      etag: found.etag,
      "content-type": found.type,
      "content-length": bytes.length,
      "last-modified": new Date().toUTCString(),
    });
    answer.end(bytes);
  };
  const accept: Handle = (answer) => void answer.writeHead(200).end();
  const sendEmptyList: Handle = (answer) => sendXml(answer, "List", "<IsTruncated>false</IsTruncated>");

  const handlers: Record<BucketAct, Handle> = {
    "head-bucket": accept,
    preflight: accept,
    "head-object": sendObject,
    "get-object": sendObject,
    "put-object"(answer, request, body) {
      answer.writeHead(200, { etag: keep(request.key, body, typeOf(request)) }).end();
    },
    "copy-object"(answer, request) {
      const source = findSource(request);
      if (source === undefined) return sendError(answer, 404, "NoSuchKey");
      if (request.headers["if-none-match"] === "*" && objects.has(request.key))
        return sendError(answer, 412, "PreconditionFailed");
      const etag = keep(request.key, source.body, typeOf(request));
      sendXml(answer, "CopyObjectResult", `<ETag>${etag}</ETag>`);
    },
    "delete-object"(answer, { key }) {
      objects.delete(key);
      answer.writeHead(204).end();
    },
    "delete-objects"(answer, _, body) {
      for (const [, key] of body.toString().matchAll(/<Key>(.*?)<\/Key>/g)) objects.delete(key ?? "");
      sendXml(answer, "DeleteResult", "");
    },
    "list-objects": sendEmptyList,
    "list-uploads": sendEmptyList,
    "create-upload"(answer, request) {
      uploads.set(String(++lastUpload), { key: request.key, type: typeOf(request), parts: new Map() });
      sendXml(answer, "InitiateMultipartUploadResult", `<UploadId>${lastUpload}</UploadId>`);
    },
    "put-part": withUpload((answer, { query }, { parts }, body) => {
      parts.set(Number(query.get("partNumber")), body);
      answer.writeHead(200, { etag: etagOf(body) }).end();
    }),
    "copy-part": withUpload((answer, request, { parts }) => {
      const source = findSource(request);
      if (source === undefined) return sendError(answer, 404, "NoSuchKey");
      const bytes = cut(source.body, request.headers["x-amz-copy-source-range"]);
      parts.set(Number(request.query.get("partNumber")), bytes);
      sendXml(answer, "CopyPartResult", `<ETag>${etagOf(bytes)}</ETag>`);
    }),
    "list-parts": withUpload((answer, _, { parts }) => {
      const items = [...parts].map(([number, bytes]) => describePart(number, bytes.length, etagOf(bytes)));
      sendXml(answer, "ListPartsResult", `<IsTruncated>false</IsTruncated>${items.join("")}`);
    }),
    "complete-upload": withUpload((answer, { query }, { key, type, parts }) => {
      const body = Buffer.concat([...parts].sort(([a], [b]) => a - b).map(([, bytes]) => bytes));
      const etag = keep(key, body, type);
      uploads.delete(query.get("uploadId") ?? "");
      sendXml(answer, "CompleteMultipartUploadResult", `<ETag>${etag}</ETag>`);
    }),
    "abort-upload"(answer, { query }) {
      uploads.delete(query.get("uploadId") ?? "");
      answer.writeHead(204).end();
    },
  };
  return (answer, request, body) => handlers[request.act](answer, request, body);
}

const etagOf = (bytes: Buffer) => `"${hash("md5", bytes)}"`;

function cut(bytes: Buffer, range: IncomingHttpHeaders[string]): Buffer {
  const [, start, end] = /bytes=(\d+)-(\d+)/.exec(String(range)) ?? [];
  return end === undefined ? bytes : bytes.subarray(Number(start), Number(end) + 1);
}

function sendError(answer: ServerResponse, status: number, code: string): void {
  sendXml(answer, "Error", `<Code>${code}</Code><Message>refused</Message>`, status);
}
