import type { Static, TSchema } from "typebox";
import { ERROR_STATUS } from "../errors.ts";
import {
  AUDIENCE_MAX,
  BULK_DELETE_MAX,
  CONTENT_TYPE_MAX,
  ETAG_MAX,
  FILE_KEY_MAX,
  FILE_LIFE_MAX_SEC,
  FILE_NAME_MAX,
  ID_MAX,
  METADATA_FILTER_MAX,
  METADATA_MAX_KEYS,
  PARTS_MAX,
  SLUG_MAX,
  UPLOAD_BATCH_MAX,
  UPLOAD_ID_MAX,
  URL_MAX,
} from "../limits.ts";
import Type from "../type.ts";
import { ACCESS_LEVELS, FILE_STATUSES, IMPORT_FAILURES, SCAN_STATES, type ScanState } from "../vocabulary.ts";
import {
  ErrorEnvelope,
  Moment,
  NullableString,
  NullableTimestamp,
  Page,
  PageQuery,
  StringEnum,
  Timestamp,
} from "./shared.ts";

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
  detectedType: Type.Unsafe<string | null>({
    ...NullableString,
    description: "MIME type detected from the bytes; null if unknown or the route's checkContent is off",
  }),
  scan: Type.Unsafe<ScanState | null>({
    ...{ type: ["string", "null"], enum: [...SCAN_STATES, null] },
    description:
      "pending: not readable yet; infected: deleted; unscanned: too large to scan; null if the file's route does not scan",
  }),
  audience: Type.Optional(Type.String({ description: "present if the file has one" })),
  expiresAt: Type.Unsafe<string | null>({
    ...NullableTimestamp,
    description: "when the file is deleted; null if it does not expire",
  }),
  claimBy: Type.Unsafe<string | null>({
    ...NullableTimestamp,
    description: "when the file is deleted unless claimed; null if it needs no claim",
  }),
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

const expiresIn = Type.Integer({
  minimum: 1,
  maximum: FILE_LIFE_MAX_SEC,
  description: "seconds from this call until the file is deleted; instead of expiresAt",
});
const expiresAt = Type.Unsafe<string | null>({
  ...Moment,
  type: ["string", "null"],
  description: "when the file is deleted: a future time with its zone; null keeps the file",
});

export const ImageFacts = Type.Object({
  width: Type.Integer({ description: "pixels, as seen upright" }),
  height: Type.Integer({ description: "pixels, as seen upright" }),
  orientation: Type.Integer({ description: "as in EXIF, 1 to 8" }),
  frames: Type.Integer({ description: "more than 1 if it is animated" }),
  hasAlpha: Type.Boolean(),
  dominantColor: Type.String({ description: "#rrggbb" }),
  thumbhash: Type.String({ description: "ThumbHash, a placeholder of about 25 bytes, in Base64" }),
  duration: Type.Optional(Type.Number({ description: "of a video, in seconds" })),
  takenAt: Type.Optional(
    Type.String({ description: "local time of the camera, with its offset if it was recorded" }),
  ),
  camera: Type.Optional(Type.String({ description: "maker and model" })),
  location: Type.Optional(
    Type.Object(
      { latitude: Type.Number(), longitude: Type.Number() },
      { description: "only if the file's route has keepLocation" },
    ),
  ),
});
export type ImageFacts = Static<typeof ImageFacts>;
const image = Type.Unsafe<ImageFacts | null>({
  ...ImageFacts,
  type: ["object", "null"],
  description:
    "null until the image has been read, shortly after its upload; also null for files that are not readable images",
});

export const FileListItem = Type.Object({
  ...fileFields,
  ...sha256,
  createdAt: Timestamp,
  metadata: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({ ...Metadata, description: "with include=metadata" }),
  ),
  image: Type.Optional(Type.Unsafe<ImageFacts | null>({ ...image, description: "with include=image" })),
});
export const CompletedFile = Type.Object({
  ...fileFields,
  ...sha256,
  metadata: Metadata,
  createdAt: Timestamp,
});
export const ImportProgress = Type.Object({
  receivedBytes: Type.Integer({ description: "stored so far" }),
  totalBytes: Type.Unsafe<number | null>({
    type: ["integer", "null"],
    description: "null until the source has sent it",
  }),
});
export const FileObject = Type.Object({
  ...CompletedFile.properties,
  updatedAt: Timestamp,
  focus: Type.Optional(
    Type.Object({ x: Type.Number(), y: Type.Number() }, { description: "present if the file has one" }),
  ),
  progress: Type.Optional(
    Type.Unsafe<Static<typeof ImportProgress>>({ ...ImportProgress, description: "while it is imported" }),
  ),
  failure: Type.Optional(
    Type.Object(
      { reason: StringEnum(IMPORT_FAILURES), message: Type.String() },
      { description: "why its import failed" },
    ),
  ),
  image,
});

export const FilePage = Page("files", FileListItem);
const metadataFilter = Type.String({
  maxLength: METADATA_FILTER_MAX,
  description:
    "value of this top-level metadata key; values other than strings compare as JSON text; up to 5 keys",
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
  include: Type.Optional(
    StringEnum(["metadata", "image", "metadata,image", "image,metadata"], {
      description: "adds metadata or image facts to every file",
    }),
  ),
  "metadata.{key}": Type.Optional(metadataFilter),
});
const coordinate = Type.Number({ minimum: 0, maximum: 1 });
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
  expiresIn: Type.Optional(expiresIn),
  expiresAt: Type.Optional(expiresAt),
  focus: Type.Optional(
    Type.Unsafe<{ x: number; y: number } | null>({
      ...Type.Object({ x: coordinate, y: coordinate }),
      type: ["object", "null"],
      description: "point of an image that gravity focus keeps in view, from the top left; null removes it",
    }),
  ),
});

const FileKeys = Type.Array(Type.String({ minLength: 1, maxLength: FILE_KEY_MAX }), {
  minItems: 1,
  maxItems: BULK_DELETE_MAX,
  description: "storage keys or ids",
});
const failures = {
  failed: Type.Integer({ description: "keys in failures" }),
  failures: Type.Array(
    Type.Object({ key: Type.String(), code: StringEnum(Object.keys(ERROR_STATUS)), message: Type.String() }),
  ),
};

export const FileKeysBody = Type.Object({ keys: FileKeys });
export const BulkDeleteBody = Type.Object({
  keys: FileKeys,
  purge: Type.Optional(
    Type.Boolean({ description: "remove the bytes immediately, including files in the trash" }),
  ),
});
export const BulkDeleteResult = Type.Object({
  deleted: Type.Integer(),
  ...failures,
  reclaimedBytes: Type.Integer({ description: "storage freed; 0 for files moved to the trash" }),
});
export const ClaimedFiles = Type.Object({ claimed: Type.Integer(), ...failures });
export const RestoredFiles = Type.Object({ restored: Type.Integer(), ...failures });

export const CONTENT_TYPE_PATTERN = "^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+([ \\t]*;[ -~]*)?$";

export const RequestUploadBody = Type.Object({
  fileName: Type.String({ minLength: 1, maxLength: FILE_NAME_MAX }),
  fileSize: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: "bytes" }),
  contentType: Type.String({
    description: "a MIME type; the PUT's Content-Type must match it byte for byte",
    minLength: 3,
    maxLength: CONTENT_TYPE_MAX,
    // Printable ASCII after the type, because the value is sent in a header and signed.
    pattern: CONTENT_TYPE_PATTERN,
  }),
  routeSlug: Type.String({ minLength: 1, maxLength: SLUG_MAX, description: "a file route of the project" }),
  metadata: Type.Optional(Metadata),
  access: Type.Optional(
    StringEnum(ACCESS_LEVELS, {
      description: "default: the route's; public is rejected if the route is private",
    }),
  ),
  audience: Type.Optional(Audience),
  expiresIn: Type.Optional(expiresIn),
  expiresAt: Type.Optional(expiresAt),
});
export const ImportUploadBody = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: URL_MAX,
    description: "public https URL of the file; requested without credentials",
  }),
  routeSlug: RequestUploadBody.properties.routeSlug,
  fileName: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: FILE_NAME_MAX,
      description: "default: the last part of the URL's path",
    }),
  ),
  contentType: Type.Optional(
    Type.Unsafe<string>({
      ...RequestUploadBody.properties.contentType,
      description: "a MIME type; default: the source's",
    }),
  ),
  metadata: RequestUploadBody.properties.metadata,
  access: RequestUploadBody.properties.access,
  audience: RequestUploadBody.properties.audience,
  expiresIn: RequestUploadBody.properties.expiresIn,
  expiresAt: RequestUploadBody.properties.expiresAt,
});
export const RequestedUpload = Type.Object({
  fileId: Type.String({ description: "for complete" }),
  uploadUrl: Type.String({
    description: "accepts one PUT of exactly the declared type and size, for 15 minutes",
  }),
  key: Type.String({ description: "storage key" }),
  cdnUrl: Type.String({ description: "the file's URL once it is confirmed" }),
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
  cdnUrl: Type.String({ description: "the file's URL once it is confirmed" }),
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
export type ImportUploadBody = Static<typeof ImportUploadBody>;
export type ImportProgress = Static<typeof ImportProgress>;
export type CompleteMultipartBody = Static<typeof CompleteMultipartBody>;
export type FileObject = Static<typeof FileObject>;
export type FileListItem = Static<typeof FileListItem>;
export type CompletedFile = Static<typeof CompletedFile>;
