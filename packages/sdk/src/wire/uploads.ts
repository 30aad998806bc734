import type { ErrorBody } from "./errors.ts";
import type { Access, Metadata } from "./files.ts";

export interface RequestUploadBody {
  fileName: string;
  /** Bytes. */
  fileSize: number;
  contentType: string;
  routeSlug: string;
  metadata?: Metadata;
  /** The route's unless given; a private route takes no public files. */
  access?: Access;
  /** Groups files for grants and revocation: an order, a user, a lesson. */
  audience?: string;
  /** Seconds from this call until the file is deleted; instead of `expiresAt`. Default: the route's. */
  expiresIn?: number;
  /** When the file is deleted: ISO 8601 with a time zone. Null keeps the file, even if its route has a default. */
  expiresAt?: string | null;
}

export interface ImportUploadBody {
  /** Public https URL of the file, requested without credentials. */
  url: string;
  routeSlug: string;
  /** Default: the last part of the URL's path. */
  fileName?: string;
  /** Default: the source's. */
  contentType?: string;
  metadata?: Metadata;
  /** The route's unless given; a private route takes no public files. */
  access?: Access;
  /** Groups files for grants and revocation: an order, a user, a lesson. */
  audience?: string;
  /** Seconds from this call until the file is deleted; instead of `expiresAt`. Default: the route's. */
  expiresIn?: number;
  /** When the file is deleted: ISO 8601 with a time zone. Null keeps the file, even if its route has a default. */
  expiresAt?: string | null;
}

export interface RequestedUpload {
  fileId: string;
  /** Accepts one PUT of exactly the declared type and size, for 15 minutes. */
  uploadUrl: string;
  key: string;
  cdnUrl: string;
}

export interface CompleteUploadBody {
  fileId: string;
  /** Replaces the earlier metadata. */
  metadata?: Metadata;
}

/** The result or error of one file in a batch, by its position in the request. */
export type BatchItem<Success> = { index: number } & (Success | ErrorBody);

export interface MultipartRef {
  fileId: string;
  uploadId: string;
}

export interface SignedPart {
  partNumber: number;
  uploadUrl: string;
}

export interface UploadedPart {
  partNumber: number;
  etag: string;
}

export interface InitiatedMultipart extends MultipartRef {
  key: string;
  cdnUrl: string;
  /** Bytes per part, except the last. */
  partSize: number;
  parts: SignedPart[];
}

export interface CompleteMultipartBody extends MultipartRef {
  parts: UploadedPart[];
  metadata?: Metadata;
}

export interface SignPartsBody extends MultipartRef {
  partNumbers: number[];
}

export interface SignedParts {
  parts: SignedPart[];
}

export interface ReceivedPart extends UploadedPart {
  /** Bytes. */
  size: number;
  receivedAt: string;
}

export interface ReceivedParts extends MultipartRef {
  key: string;
  partSize: number;
  partCount: number;
  parts: ReceivedPart[];
}
