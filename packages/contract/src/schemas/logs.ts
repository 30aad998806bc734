import type { Static } from "typebox";
import Type from "../type.ts";
import { Page, PageQuery, Timestamp } from "./shared.ts";

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
  since: Type.Optional(Type.String({ format: "date-time" })),
  type: Type.Optional(Type.String({ maxLength: 100 })),
});

export const LogPage = Page("logs", Log);
export type Log = Static<typeof Log>;
