import type { Static } from "typebox";
import { SLUG_MAX } from "../limits.ts";
import Type from "../type.ts";
import { ROUTE_ENVIRONMENTS } from "../vocabulary.ts";
import { NullableInteger, NullableString, StringEnum, Timestamp } from "./shared.ts";

export const Router = Type.Object({
  id: Type.String(),
  projectId: Type.String(),
  slug: Type.String(),
  allowedTypes: Type.Array(Type.String(), { description: "empty means every type" }),
  maxFileSize: NullableInteger,
  webhookUrl: NullableString,
  environment: StringEnum(ROUTE_ENVIRONMENTS),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

const routerFields = {
  allowedTypes: Type.Array(
    Type.String({
      // One token of RFC 9110 on each side of the slash, or a wildcard.
      pattern: "^(\\*/\\*|[A-Za-z0-9!#$&^_.+-]{1,127}/(\\*|[A-Za-z0-9!#$&^_.+-]{1,127}))$",
      description: "type/subtype, type/* or */*",
    }),
    { maxItems: 100 },
  ),
  maxFileSize: Type.Unsafe<number | null>({
    type: ["integer", "null"],
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: "bytes; null leaves it to the tier",
  }),
  webhookUrl: Type.Unsafe<string | null>({
    type: ["string", "null"],
    minLength: 1,
    maxLength: 2048,
    description:
      "Public HTTPS URL that receives upload.completed. http:// only works for addresses that the operator has allowed.",
  }),
  environment: StringEnum(ROUTE_ENVIRONMENTS),
};

const slug = Type.String({ minLength: 1, maxLength: SLUG_MAX, pattern: "^[A-Za-z0-9_-]+$" });

export const CreateRouterBody = Type.Object({
  slug,
  allowedTypes: Type.Optional(routerFields.allowedTypes),
  maxFileSize: Type.Optional(routerFields.maxFileSize),
  webhookUrl: Type.Optional(routerFields.webhookUrl),
  environment: Type.Optional(routerFields.environment),
});
export const UpdateRouterBody = Type.Partial(CreateRouterBody);

export type Router = Static<typeof Router>;
export type CreateRouterBody = Static<typeof CreateRouterBody>;
export type UpdateRouterBody = Static<typeof UpdateRouterBody>;
