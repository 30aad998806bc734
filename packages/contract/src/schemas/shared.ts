import type { Static, TSchema, TUnsafe } from "typebox";
import { ERROR_STATUS } from "../errors.ts";
import { CURSOR_MAX, MOMENT_MAX, PAGE_DEFAULT, PAGE_MAX, PATH_PARAM_MAX } from "../limits.ts";
import Type from "../type.ts";

export const NullableString = Type.Unsafe<string | null>({ type: ["string", "null"] });
export const NullableInteger = Type.Unsafe<number | null>({ type: ["integer", "null"] });

export function StringEnum<const Values extends readonly string[]>(
  values: Values,
  options: object = {},
): TUnsafe<Values[number]> {
  return Type.Unsafe<Values[number]>({ type: "string", enum: [...values], ...options });
}

export const Timestamp = Type.String({ format: "date-time", description: "ISO 8601 with milliseconds, UTC" });
export const NullableTimestamp = Type.Unsafe<string | null>({
  type: ["string", "null"],
  format: "date-time",
});
/** The value of time filters. */
export const Moment = Type.String({
  maxLength: MOMENT_MAX,
  format: "date-time",
  description: "a time with its zone, such as 2026-11-17T08:00:00Z",
});
export const Ok = Type.Object({ ok: Type.Boolean() });

export const IdParam = Type.Object({ id: Type.String({ minLength: 1, maxLength: PATH_PARAM_MAX }) });

export const PageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX, default: PAGE_DEFAULT })),
  cursor: Type.Optional(
    Type.String({ maxLength: CURSOR_MAX, description: "nextCursor of the previous page" }),
  ),
});

export function Page<Key extends string, Item extends TSchema>(key: Key, item: Item) {
  return Type.Object({
    [key]: Type.Array(item),
    nextCursor: NullableString,
    hasMore: Type.Boolean(),
  });
}

export const ErrorEnvelope = Type.Object({
  error: Type.Object({
    type: StringEnum(["invalid_request", "authentication_error", "rate_limit_error", "api_error"]),
    code: StringEnum(Object.keys(ERROR_STATUS)),
    message: Type.String(),
    suggestion: Type.Optional(Type.String()),
    details: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
  }),
});

export type { Static };
