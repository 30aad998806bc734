import type { IncomingHttpHeaders, ServerResponse } from "node:http";

export type BucketAct =
  | "head-bucket"
  | "head-object"
  | "get-object"
  | "put-object"
  | "copy-object"
  | "delete-object"
  | "delete-objects"
  | "list-objects"
  | "list-uploads"
  | "list-parts"
  | "create-upload"
  | "put-part"
  | "copy-part"
  | "complete-upload"
  | "abort-upload"
  | "preflight";

export interface BucketRequest {
  act: BucketAct;
  /** Without the bucket's name. */
  key: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
}

export function describePart(number: number, size: number | string, etag: string): string {
  const modified = new Date().toISOString();
  return `<Part><PartNumber>${number}</PartNumber><LastModified>${modified}</LastModified><ETag>${etag}</ETag><Size>${size}</Size></Part>`;
}

export function sendXml(answer: ServerResponse, root: string, content: string, status = 200): void {
  answer.writeHead(status, { "content-type": "application/xml" });
  answer.end(`<?xml version="1.0" encoding="UTF-8"?><${root}>${content}</${root}>`);
}
