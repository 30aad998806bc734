import type { Static } from "typebox";
import { LOG_TYPE_MAX } from "../limits.ts";
import Type from "../type.ts";
import { LOG_TYPES } from "../vocabulary.ts";
import { Moment, Page, PageQuery, Timestamp } from "./shared.ts";

export const Log = Type.Object({
  id: Type.String(),
  type: Type.String(),
  fileId: Type.Optional(Type.String()),
  key: Type.Optional(Type.String()),
  message: Type.String(),
  data: Type.Record(Type.String(), Type.Unknown()),
  createdAt: Timestamp,
});

export const LogQuery = Type.Object({
  ...PageQuery.properties,
  since: Type.Optional(Moment),
  type: Type.Optional(Type.String({ maxLength: LOG_TYPE_MAX, description: LOG_TYPES.join(", ") })),
});

export const LogPage = Page("logs", Log);
export type Log = Static<typeof Log>;
