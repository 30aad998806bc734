import type { Static } from "typebox";
import {
  ALLOWED_TYPES_MAX,
  MEDIA_RANGE_MAX,
  SLUG_MAX,
  UPLOAD_GRANT_FILES_MAX,
  UPLOAD_GRANT_MAX_SEC,
  UPLOAD_GRANT_SEC,
} from "../limits.ts";
import Type from "../type.ts";
import { ACCESS_LEVELS } from "../vocabulary.ts";
import { Audience, Metadata } from "./files.ts";
import { StringEnum, Timestamp } from "./shared.ts";

export const CreateUploadGrantBody = Type.Object({
  routeSlug: Type.String({ minLength: 1, maxLength: SLUG_MAX, description: "a file route of the project" }),
  expiresIn: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: UPLOAD_GRANT_MAX_SEC,
      description: `seconds; default: ${UPLOAD_GRANT_SEC}`,
    }),
  ),
  maxFiles: Type.Optional(
    Type.Integer({ minimum: 1, maximum: UPLOAD_GRANT_FILES_MAX, description: "uploads; default: 1" }),
  ),
  maxFileSize: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "bytes of one file; the route's limit applies as well",
    }),
  ),
  allowedTypes: Type.Optional(
    Type.Array(
      Type.String({
        maxLength: MEDIA_RANGE_MAX,
        pattern: "^(\\*/\\*|[A-Za-z0-9!#$&^_.+-]+/(\\*|[A-Za-z0-9!#$&^_.+-]+))$",
        description: "a type such as image/png, or image/*",
      }),
      {
        minItems: 1,
        maxItems: ALLOWED_TYPES_MAX,
        description: "a subset of the route's types; default: all of them",
      },
    ),
  ),
  metadata: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      ...Metadata,
      description: "added to every file; replaces keys of the same name that the uploader sends",
    }),
  ),
  access: Type.Optional(
    StringEnum(ACCESS_LEVELS, {
      description: "default: the route's; public is rejected if the route is private",
    }),
  ),
  audience: Type.Optional(Audience),
});

export const UploadGrant = Type.Object({
  token: Type.String({ description: "upg_… sent as Authorization: Bearer" }),
  expiresAt: Timestamp,
});

export type CreateUploadGrantBody = Static<typeof CreateUploadGrantBody>;
export type UploadGrant = Static<typeof UploadGrant>;
