import type { Static } from "typebox";
import { ERROR_STATUS } from "../errors.ts";
import {
  AUDIENCE_MAX,
  FILE_KEY_MAX,
  FILE_NAME_MAX,
  GRANT_MAX_SEC,
  LINK_MAX_SEC,
  LINK_SEC,
  LINK_USES_MAX,
  LINKS_MAX,
  SLUG_MAX,
} from "../limits.ts";
import Type from "../type.ts";
import { Audience } from "./files.ts";
import { NullableInteger, StringEnum, Timestamp } from "./shared.ts";

const keys = Type.Array(Type.String({ minLength: 1, maxLength: FILE_KEY_MAX }), {
  minItems: 1,
  maxItems: LINKS_MAX,
  description: "storage keys or ids",
});

export const CreateLinksBody = Type.Object({
  keys,
  expiresIn: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LINK_MAX_SEC,
      description: `seconds; default: ${LINK_SEC}`,
    }),
  ),
  download: Type.Optional(
    Type.Union([
      Type.Boolean({ description: "true makes browsers save the file" }),
      Type.String({ minLength: 1, maxLength: FILE_NAME_MAX, description: "save it under this name" }),
    ]),
  ),
  maxUses: Type.Optional(
    Type.Integer({ minimum: 1, maximum: LINK_USES_MAX, description: "downloads; default: unlimited" }),
  ),
});
export const Link = Type.Object({
  key: Type.String({ description: "as it was sent" }),
  url: Type.String(),
  expiresAt: Timestamp,
  maxUses: NullableInteger,
});
export const CreatedLinks = Type.Object({
  links: Type.Array(Link),
  failures: Type.Array(
    Type.Object({ key: Type.String(), code: StringEnum(Object.keys(ERROR_STATUS)), message: Type.String() }),
  ),
});

export const CreateGrantBody = Type.Object({
  routeSlug: Type.Optional(
    Type.String({ minLength: 1, maxLength: SLUG_MAX, description: "every file of this route" }),
  ),
  prefix: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: FILE_KEY_MAX,
      description: "every file whose key starts with this, after the project id and its slash",
    }),
  ),
  audience: Type.Optional(Audience),
  expiresIn: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: GRANT_MAX_SEC,
      description: `seconds; default: ${LINK_SEC}`,
    }),
  ),
  subject: Type.Optional(
    Type.String({ minLength: 1, maxLength: AUDIENCE_MAX, description: "who it is for; appears in the logs" }),
  ),
});
export const Grant = Type.Object({
  token: Type.String(),
  baseUrl: Type.String({ description: "append a slash and a file's key to get its URL" }),
  expiresAt: Timestamp,
});

export const RevokeLinksBody = Type.Object({
  keys: Type.Optional(keys),
  audience: Type.Optional(Audience),
  all: Type.Optional(
    Type.Unsafe<true>({ type: "boolean", enum: [true], description: "everything of the environment" }),
  ),
});
export const RevokedLinks = Type.Object({
  revoked: Type.Integer({ description: "files whose links ended; 0 for an audience or all" }),
  failures: CreatedLinks.properties.failures,
});

export const ReadKeys = Type.Object({
  current: Type.String({ description: "rdk_… signs links and grants" }),
  next: Type.String({ description: "rdk_… signs after the next rotation; already valid" }),
});

export type CreateLinksBody = Static<typeof CreateLinksBody>;
export type CreateGrantBody = Static<typeof CreateGrantBody>;
export type RevokeLinksBody = Static<typeof RevokeLinksBody>;
export type Link = Static<typeof Link>;
export type Grant = Static<typeof Grant>;
export type ReadKeys = Static<typeof ReadKeys>;
