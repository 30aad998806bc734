import type { Static, TSchema } from "typebox";
import { ERROR_STATUS } from "../errors.ts";
import {
  AUDIENCE_MAX,
  BULK_DELETE_MAX,
  CONTENT_TYPE_MAX,
  ETAG_MAX,
  FILE_KEY_MAX,
  FILE_NAME_MAX,
  ID_MAX,
  METADATA_FILTER_MAX,
  METADATA_MAX_KEYS,
  PARTS_MAX,
  SLUG_MAX,
  UPLOAD_BATCH_MAX,
  UPLOAD_ID_MAX,
} from "../limits.ts";
import Type from "../type.ts";
import { ACCESS_LEVELS, FILE_STATUSES } from "../vocabulary.ts";
import { ErrorEnvelope, Moment, NullableString, Page, PageQuery, StringEnum, Timestamp } from "./shared.ts";

// Not a Type.Record: its key pattern excludes line breaks, so responses would drop such keys.
export const Metadata = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  additionalProperties: true,
  maxProperties: METADATA_MAX_KEYS,
  description: "any JSON object of at most 16 KiB, nested at most 10 deep",
});

const fileFields = {
  id: Type.String({ description: "the fileId of upload calls" }),
  key: Type.String({ description: "storage key: project, route, a random part and the name, with slashes" }),
  name: Type.String({ description: "as uploaded or later renamed" }),
  size: Type.Integer({ description: "bytes" }),
  type: Type.String({ description: "MIME type" }),
  url: Type.String({ description: "permanent URL of the file" }),
  status: StringEnum(FILE_STATUSES),
  access: StringEnum(ACCESS_LEVELS),
  audience: Type.Optional(Type.String({ description: "only where the file has one" })),
};
const sha256 = {
  sha256: Type.Unsafe<string | null>({
    ...NullableString,
    description: "hex; null if the service never saw the bytes in one piece",
  }),
};

/** Files that belong together for their readers. */
export const Audience = Type.String({
  minLength: 1,
  maxLength: AUDIENCE_MAX,
  description: "groups files for grants and revocation: an order, a user, a lesson",
});

export const FileListItem = Type.Object({
  ...fileFields,
  ...sha256,
  createdAt: Timestamp,
  metadata: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({ ...Metadata, description: "with include=metadata" }),
  ),
});
export const CompletedFile = Type.Object({
  ...fileFields,
  ...sha256,
  metadata: Metadata,
  createdAt: Timestamp,
});
export const FileObject = Type.Object({ ...CompletedFile.properties, updatedAt: Timestamp });

export const FilePage = Page("files", FileListItem);
const metadataFilter = Type.String({
  maxLength: METADATA_FILTER_MAX,
  description:
    "Top-level metadata key equals this; values other than strings compare as JSON text. At most 5 keys.",
});
export const FileQuery = Type.Object({
  ...PageQuery.properties,
  status: Type.Optional(StringEnum(FILE_STATUSES)),
  type: Type.Optional(
    Type.String({
      maxLength: CONTENT_TYPE_MAX,
      pattern: "^(\\*/\\*|[A-Za-z0-9!#$&^_.+-]+/(\\*|[A-Za-z0-9!#$&^_.+-]+)([ \\t]*;[ -~]*)?)$",
      description: "type/subtype or type/*; case and parameters are ignored",
    }),
  ),
  routeSlug: Type.Optional(Type.String({ minLength: 1, maxLength: SLUG_MAX })),
  name: Type.Optional(
    Type.String({ maxLength: FILE_NAME_MAX, description: "substring of the name, case-insensitive" }),
  ),
  prefix: Type.Optional(
    Type.String({
      maxLength: FILE_KEY_MAX,
      description: "prefix of the key, after the project id and its slash",
    }),
  ),
  since: Type.Optional(Type.Unsafe<string>({ ...Moment, description: "created at this time or later" })),
  until: Type.Optional(Type.Unsafe<string>({ ...Moment, description: "created before this time" })),
  access: Type.Optional(StringEnum(ACCESS_LEVELS)),
  include: Type.Optional(StringEnum(["metadata"], { description: "adds metadata to every file" })),
  "metadata.{key}": Type.Optional(metadataFilter),
});
export const UpdateFileBody = Type.Object({
  metadata: Type.Optional(Metadata),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: FILE_NAME_MAX,
      description: "display name, also used for downloads; the key does not change",
    }),
  ),
  access: Type.Optional(
    StringEnum(ACCESS_LEVELS, { description: "takes effect with the next read, on every instance" }),
  ),
  audience: Type.Optional(
    Type.Unsafe<string | null>({ ...Audience, type: ["string", "null"], description: "null removes it" }),
  ),
});

export const BulkDeleteBody = Type.Object({
  keys: Type.Array(Type.String({ minLength: 1, maxLength: FILE_KEY_MAX }), {
    minItems: 1,
    maxItems: BULK_DELETE_MAX,
    description: "storage keys or ids",
  }),
});
export const BulkDeleteResult = Type.Object({
  deleted: Type.Integer(),
  failed: Type.Integer({ description: "keys in failures" }),
  failures: Type.Array(
    Type.Object({ key: Type.String(), code: StringEnum(Object.keys(ERROR_STATUS)), message: Type.String() }),
  ),
  reclaimedBytes: Type.Integer({ description: "storage freed" }),
});

export const RequestUploadBody = Type.Object({
  fileName: Type.String({ minLength: 1, maxLength: FILE_NAME_MAX }),
  fileSize: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: "bytes" }),
  contentType: Type.String({
    description: "a MIME type; the PUT's Content-Type must match it byte for byte",
    minLength: 3,
    maxLength: CONTENT_TYPE_MAX,
    // Printable ASCII after the type, because the value is sent in a header and signed.
    pattern: "^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+([ \\t]*;[ -~]*)?$",
  }),
  routeSlug: Type.String({ minLength: 1, maxLength: SLUG_MAX, description: "a file route of the project" }),
  metadata: Type.Optional(Metadata),
  access: Type.Optional(
    StringEnum(ACCESS_LEVELS, {
      description: "the route's when left out; public is refused where the route is private",
    }),
  ),
  audience: Type.Optional(Audience),
});
export const RequestedUpload = Type.Object({
  fileId: Type.String({ description: "for complete" }),
  uploadUrl: Type.String({
    description: "accepts one PUT of exactly the declared type and size, for 15 minutes",
  }),
  key: Type.String({ description: "storage key" }),
  cdnUrl: Type.String({ description: "where the file will be once it is confirmed" }),
});

export const CompleteUploadBody = Type.Object({
  fileId: Type.String({ minLength: 1, maxLength: ID_MAX }),
  metadata: Type.Optional(Metadata),
});

/** Items are validated one by one: a malformed one is its own error, not the call's. */
export const UploadBatchBody = Type.Object({
  files: Type.Array(Type.Unsafe<unknown>({ $comment: "bounded: each item is validated by itself" }), {
    minItems: 1,
    maxItems: UPLOAD_BATCH_MAX,
  }),
});
const batchOf = <Item extends TSchema>(item: Item) =>
  Type.Object({ files: Type.Array(item, { minItems: 1, maxItems: UPLOAD_BATCH_MAX }) });
export const RequestUploadBatchBody = batchOf(RequestUploadBody);
export const CompleteUploadBatchBody = batchOf(CompleteUploadBody);

const index = Type.Integer({ description: "position in the request's files" });
const failedItem = Type.Object({ index, ...ErrorEnvelope.properties });
export const RequestedUploadBatch = Type.Object({
  uploads: Type.Array(Type.Union([Type.Object({ index, ...RequestedUpload.properties }), failedItem])),
});
export const CompletedUploadBatch = Type.Object({
  files: Type.Array(Type.Union([Type.Object({ index, file: CompletedFile }), failedItem])),
});

const multipartRef = {
  fileId: Type.String({ minLength: 1, maxLength: ID_MAX }),
  uploadId: Type.String({ minLength: 1, maxLength: UPLOAD_ID_MAX }),
};
const partNumber = Type.Integer({ minimum: 1, maximum: PARTS_MAX });
const signedPart = Type.Object({
  partNumber: Type.Integer({ description: "from 1" }),
  uploadUrl: Type.String({ description: "accepts a PUT of this part, for 1 hour" }),
});

export const InitiatedMultipart = Type.Object({
  ...multipartRef,
  key: Type.String({ description: "storage key" }),
  cdnUrl: Type.String({ description: "where the file will be once it is confirmed" }),
  partSize: Type.Integer({ description: "bytes per part, except the last" }),
  parts: Type.Array(signedPart),
});
export const CompleteMultipartBody = Type.Object({
  ...multipartRef,
  parts: Type.Array(
    Type.Object({
      // The valid numbers depend on the upload's size, so the upload checks them.
      partNumber: Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
      etag: Type.String({ minLength: 1, maxLength: ETAG_MAX, description: "from the response to its PUT" }),
    }),
    {
      maxItems: PARTS_MAX,
    },
  ),
  metadata: Type.Optional(Metadata),
});
export const AbortMultipartBody = Type.Object(multipartRef);
export const SignPartsBody = Type.Object({
  ...multipartRef,
  partNumbers: Type.Array(partNumber, { minItems: 1, maxItems: PARTS_MAX }),
});
export const SignedParts = Type.Object({ parts: Type.Array(signedPart) });
export const ReceivedParts = Type.Object({
  fileId: Type.String(),
  uploadId: Type.String(),
  key: Type.String(),
  partSize: Type.Integer(),
  partCount: Type.Integer(),
  parts: Type.Array(
    Type.Object({
      partNumber: Type.Integer(),
      etag: Type.String(),
      size: Type.Integer(),
      receivedAt: Timestamp,
    }),
  ),
});

export type FileQuery = Static<typeof FileQuery>;
export type UpdateFileBody = Static<typeof UpdateFileBody>;
export type SignPartsBody = Static<typeof SignPartsBody>;
export type RequestUploadBody = Static<typeof RequestUploadBody>;
export type CompleteMultipartBody = Static<typeof CompleteMultipartBody>;
export type FileObject = Static<typeof FileObject>;
export type FileListItem = Static<typeof FileListItem>;
export type CompletedFile = Static<typeof CompletedFile>;
