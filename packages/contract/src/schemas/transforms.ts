import type { Static } from "typebox";
import { FILE_KEY_MAX } from "../limits.ts";
import Type from "../type.ts";
import { NullableString, StringEnum } from "./shared.ts";

export const FIT_MODES = ["scale-down", "contain", "cover", "crop", "pad"] as const;
export const VARIANT_FORMATS = ["auto", "avif", "webp", "jpeg", "png"] as const;
export const VARIANT_DELIVERIES = ["signed", "public"] as const;

const side = Type.Integer({
  minimum: 1,
  maximum: 4096,
  description: "pixels; width, height or both are required",
});

export const TransformImageBody = Type.Object({
  key: Type.String({
    minLength: 1,
    maxLength: FILE_KEY_MAX,
    description: "storage key of an uploaded image",
  }),
  width: Type.Optional(side),
  height: Type.Optional(side),
  fit: Type.Optional(StringEnum(FIT_MODES, { description: "default: scale-down" })),
  quality: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: "default: 85" })),
  format: Type.Optional(StringEnum(VARIANT_FORMATS, { description: "default: auto" })),
  delivery: Type.Optional(StringEnum(VARIANT_DELIVERIES, { description: "default: signed" })),
});

export const TransformedImage = Type.Object({
  url: Type.String({ description: "URL of the variant" }),
  expiresAt: Type.Unsafe<string | null>({ ...NullableString, description: "null for public delivery" }),
  delivery: StringEnum(VARIANT_DELIVERIES),
  transform: Type.Object({
    width: Type.Optional(Type.Integer()),
    height: Type.Optional(Type.Integer()),
    fit: StringEnum(FIT_MODES),
    quality: Type.Integer(),
    format: StringEnum(VARIANT_FORMATS),
  }),
  usage: Type.Object({
    period: Type.String({ description: "YYYY-MM, UTC" }),
    used: Type.Integer({ description: "units used this month" }),
    limit: Type.Integer(),
    units: Type.Integer({ description: "cost of this variant: 1, or 3 for auto" }),
    counted: Type.Boolean({ description: "false if it was already counted this month" }),
  }),
});

export type TransformImageBody = Static<typeof TransformImageBody>;
export type TransformedImage = Static<typeof TransformedImage>;
