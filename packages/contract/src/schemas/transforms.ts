import type { Static } from "typebox";
import { FILE_KEY_MAX, IMAGE_LIST_MAX, IMAGE_PRESET_NAME_MAX, IMAGE_PRESETS_MAX } from "../limits.ts";
import Type from "../type.ts";
import { NullableString, StringEnum } from "./shared.ts";

export const FIT_MODES = ["scale-down", "contain", "cover", "crop", "pad"] as const;
export const VARIANT_FORMATS = ["auto", "avif", "webp", "jpeg", "png"] as const;
export const GRAVITIES = [
  "attention",
  "entropy",
  "focus",
  "n",
  "ne",
  "e",
  "se",
  "s",
  "sw",
  "w",
  "nw",
] as const;
export const ROTATIONS = [90, 180, 270] as const;
export const VARIANT_DELIVERIES = ["signed", "public"] as const;

const side = Type.Integer({
  minimum: 1,
  maximum: 4096,
  description: "pixels; width, height or both are required",
});

/** How a variant is made. Every field is optional. */
export const TransformOptions = Type.Object({
  width: Type.Optional(side),
  height: Type.Optional(side),
  fit: Type.Optional(StringEnum(FIT_MODES, { description: "default: scale-down" })),
  quality: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: "default: 85" })),
  format: Type.Optional(StringEnum(VARIANT_FORMATS, { description: "default: auto" })),
  gravity: Type.Optional(
    StringEnum(GRAVITIES, { description: "part that cover and crop keep, or side for pad; default: centre" }),
  ),
  background: Type.Optional(
    Type.String({
      pattern: "^[0-9A-Fa-f]{6}$",
      maxLength: 6,
      description: "rrggbb: colour behind transparency and of bars",
    }),
  ),
  blur: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: "strength in pixels" })),
  rotate: Type.Optional(
    Type.Unsafe<(typeof ROTATIONS)[number]>({
      type: "integer",
      enum: [...ROTATIONS],
      description: "degrees clockwise, before resizing",
    }),
  ),
});

/** The variants of public files that `/i/` serves without a signature. */
export const imageSettings = {
  imageWidths: Type.Array(side, {
    maxItems: IMAGE_LIST_MAX,
    uniqueItems: true,
    description: "widths, or heights of variants without a width, that public variants may have",
  }),
  imageQualities: Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), {
    maxItems: IMAGE_LIST_MAX,
    uniqueItems: true,
    description: "qualities that public variants may have",
  }),
  imagePresets: Type.Unsafe<Record<string, Static<typeof TransformOptions>>>({
    type: "object",
    maxProperties: IMAGE_PRESETS_MAX,
    propertyNames: { type: "string", pattern: "^[a-z][a-z0-9-]*$", maxLength: IMAGE_PRESET_NAME_MAX },
    additionalProperties: TransformOptions,
    description: "named variants, served at /i/<name>/<key> whatever their width and quality",
  }),
};

export const TransformImageBody = Type.Object({
  key: Type.String({
    minLength: 1,
    maxLength: FILE_KEY_MAX,
    description: "storage key of an uploaded image",
  }),
  ...TransformOptions.properties,
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
    gravity: TransformOptions.properties.gravity,
    background: TransformOptions.properties.background,
    blur: TransformOptions.properties.blur,
    rotate: TransformOptions.properties.rotate,
  }),
  usage: Type.Object({
    period: Type.String({ description: "YYYY-MM, UTC" }),
    used: Type.Integer({ description: "units used this month" }),
    limit: Type.Integer(),
    units: Type.Integer({ description: "cost of this variant: 1, or 3 for auto" }),
    counted: Type.Boolean({ description: "false if it was already counted this month" }),
  }),
});

export type TransformOptions = Static<typeof TransformOptions>;
export type TransformImageBody = Static<typeof TransformImageBody>;
export type TransformedImage = Static<typeof TransformedImage>;
