import type { Static } from "typebox";
import {
  ALLOWED_TYPES_MAX,
  CLAIM_WITHIN_MAX_SEC,
  CURSOR_MAX,
  EXPIRE_AFTER_MAX_DAYS,
  FORM_ORIGINS_MAX,
  MEDIA_RANGE_MAX,
  ORIGIN_MAX,
  PAGE_MAX,
  SLUG_MAX,
  URL_MAX,
} from "../limits.ts";
import Type from "../type.ts";
import {
  ACCESS_LEVELS,
  CONTENT_CHECKS,
  ROUTE_ENVIRONMENTS,
  SCAN_UNKNOWN_CHOICES,
  STRIP_CHOICES,
} from "../vocabulary.ts";
import { NullableInteger, NullableString, StringEnum, Timestamp } from "./shared.ts";

export const Router = Type.Object({
  id: Type.String(),
  projectId: Type.String(),
  slug: Type.String(),
  allowedTypes: Type.Array(Type.String(), { description: "empty means every type" }),
  maxFileSize: NullableInteger,
  webhookUrl: NullableString,
  environment: StringEnum(ROUTE_ENVIRONMENTS),
  access: StringEnum(ACCESS_LEVELS, { description: "of new uploads" }),
  expireAfterDays: NullableInteger,
  claimWithin: NullableInteger,
  keepLocation: Type.Boolean({ description: "whether image facts include where a picture was taken" }),
  checkContent: StringEnum(CONTENT_CHECKS),
  stripMetadata: StringEnum(STRIP_CHOICES),
  scan: Type.Boolean({ description: "whether files are scanned for viruses before anyone can read them" }),
  scanUnknown: StringEnum(SCAN_UNKNOWN_CHOICES),
  formOrigins: Type.Array(Type.String(), { description: "origins that forms may redirect to" }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

const routerFields = {
  allowedTypes: Type.Array(
    Type.String({
      maxLength: MEDIA_RANGE_MAX,
      // One token of RFC 9110 on each side of the slash, or a wildcard.
      pattern: "^(\\*/\\*|[A-Za-z0-9!#$&^_.+-]{1,127}/(\\*|[A-Za-z0-9!#$&^_.+-]{1,127}))$",
      description: "a MIME type such as image/png, image/* or */*",
    }),
    { maxItems: ALLOWED_TYPES_MAX, description: "at most 4 KB as JSON; empty means every type" },
  ),
  maxFileSize: Type.Unsafe<number | null>({
    type: ["integer", "null"],
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: "bytes; null means the tier's limit",
  }),
  webhookUrl: Type.Unsafe<string | null>({
    type: ["string", "null"],
    minLength: 1,
    maxLength: URL_MAX,
    description:
      "Public HTTPS URL that receives upload.completed. http:// only works for addresses that the operator has allowed.",
  }),
  environment: StringEnum(ROUTE_ENVIRONMENTS),
  access: StringEnum(ACCESS_LEVELS, { description: "default: public" }),
  expireAfterDays: Type.Unsafe<number | null>({
    type: ["integer", "null"],
    minimum: 1,
    maximum: EXPIRE_AFTER_MAX_DAYS,
    description:
      "days after which new uploads are deleted, unless their request sets another time; null keeps them",
  }),
  claimWithin: Type.Unsafe<number | null>({
    type: ["integer", "null"],
    minimum: 1,
    maximum: CLAIM_WITHIN_MAX_SEC,
    description:
      "seconds after completion within which an upload must be claimed, or it is deleted; null requires no claim",
  }),
  keepLocation: Type.Boolean({
    description:
      "Whether image facts include where a picture was taken. Does not change files; stripMetadata does. Default: false.",
  }),
  checkContent: StringEnum(CONTENT_CHECKS, {
    description:
      "Compares a file's bytes with its declared type and the route's types before it is confirmed: warn logs file.mismatch, enforce rejects. Default: off.",
  }),
  stripMetadata: StringEnum(STRIP_CHOICES, {
    description:
      "Overwrites metadata in JPEG, PNG and WebP files before they are confirmed: gps removes the location, all removes everything except orientation and colour profile. File sizes do not change; pictures over 50 MB are rejected. Default: off.",
  }),
  scan: Type.Boolean({
    description:
      "Scans files for viruses: nobody can read a file until it is clean, and infected files are deleted. Needs UPSTOW_CLAMD. Default: false.",
  }),
  scanUnknown: StringEnum(SCAN_UNKNOWN_CHOICES, {
    description: "what happens to files too large to scan; default: refuse",
  }),
  formOrigins: Type.Array(
    Type.String({
      minLength: 1,
      maxLength: ORIGIN_MAX,
      pattern: "^https?://",
      description: "an origin such as https://www.example.com",
    }),
    { maxItems: FORM_ORIGINS_MAX, description: "origins that a form's success_redirect may point to" },
  ),
};

const slug = Type.String({
  minLength: 1,
  maxLength: SLUG_MAX,
  pattern: "^[A-Za-z0-9_-]+$",
  description: "letters, digits, _ and - only",
});

export const CreateRouterBody = Type.Object({
  slug,
  allowedTypes: Type.Optional(routerFields.allowedTypes),
  maxFileSize: Type.Optional(routerFields.maxFileSize),
  webhookUrl: Type.Optional(routerFields.webhookUrl),
  environment: Type.Optional(routerFields.environment),
  access: Type.Optional(routerFields.access),
  expireAfterDays: Type.Optional(routerFields.expireAfterDays),
  claimWithin: Type.Optional(routerFields.claimWithin),
  keepLocation: Type.Optional(routerFields.keepLocation),
  checkContent: Type.Optional(routerFields.checkContent),
  stripMetadata: Type.Optional(routerFields.stripMetadata),
  scan: Type.Optional(routerFields.scan),
  scanUnknown: Type.Optional(routerFields.scanUnknown),
  formOrigins: Type.Optional(routerFields.formOrigins),
});
export const UpdateRouterBody = Type.Partial(CreateRouterBody);

/** Unlike other lists, this one is returned whole unless a page is requested. */
export const RouterQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: PAGE_MAX, description: "return a page; without it, all routes" }),
  ),
  cursor: Type.Optional(
    Type.String({ maxLength: CURSOR_MAX, description: "nextCursor of the previous page" }),
  ),
});
export const RouterList = Type.Object({
  routers: Type.Array(Router),
  nextCursor: Type.Optional(NullableString),
  hasMore: Type.Optional(Type.Boolean({ description: "pages only, like nextCursor" })),
});

export type Router = Static<typeof Router>;
export type CreateRouterBody = Static<typeof CreateRouterBody>;
export type UpdateRouterBody = Static<typeof UpdateRouterBody>;
