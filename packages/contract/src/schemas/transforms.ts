import type { Static } from "typebox";
import Type from "../type.ts";
import { NullableString, StringEnum } from "./shared.ts";

export const FIT_MODES = ["scale-down", "contain", "cover", "crop", "pad"] as const;
export const VARIANT_FORMATS = ["auto", "avif", "webp", "jpeg", "png"] as const;
export const VARIANT_DELIVERIES = ["signed", "public"] as const;

const side = Type.Integer({ minimum: 1, maximum: 4096 });

export const TransformImageBody = Type.Object({
  key: Type.String({ minLength: 1 }),
  width: Type.Optional(side),
  height: Type.Optional(side),
  fit: Type.Optional(StringEnum(FIT_MODES)),
  quality: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  format: Type.Optional(StringEnum(VARIANT_FORMATS)),
  delivery: Type.Optional(StringEnum(VARIANT_DELIVERIES)),
});

export const TransformedImage = Type.Object({
  url: Type.String(),
  expiresAt: NullableString,
  delivery: StringEnum(VARIANT_DELIVERIES),
  transform: Type.Object({
    width: Type.Optional(Type.Integer()),
    height: Type.Optional(Type.Integer()),
    fit: StringEnum(FIT_MODES),
    quality: Type.Integer(),
    format: StringEnum(VARIANT_FORMATS),
  }),
  usage: Type.Object({
    period: Type.String(),
    used: Type.Integer(),
    limit: Type.Integer(),
    units: Type.Integer(),
    counted: Type.Boolean(),
  }),
});

export type TransformImageBody = Static<typeof TransformImageBody>;
export type TransformedImage = Static<typeof TransformedImage>;
