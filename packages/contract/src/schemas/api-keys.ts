import type { Static } from "typebox";
import { KEY_NAME_MAX } from "../limits.ts";
import Type from "../type.ts";
import { ENVIRONMENTS } from "../vocabulary.ts";
import { NullableString, StringEnum, Timestamp } from "./shared.ts";

export const ApiKey = Type.Object({
  id: Type.String(),
  projectId: Type.String(),
  name: Type.String(),
  type: StringEnum(ENVIRONMENTS),
  prefix: Type.String({ description: "masked, e.g. svc_live_Ab3d…" }),
  lastUsedAt: NullableString,
  createdAt: Timestamp,
});

export const CreateKeyBody = Type.Object({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: KEY_NAME_MAX })),
  type: Type.Optional(StringEnum(ENVIRONMENTS)),
});

export const CreatedKey = Type.Object({
  key: ApiKey,
  secret: Type.Optional(Type.String({ description: "shown once; omitted when a repeated call is replayed" })),
});

export type ApiKey = Static<typeof ApiKey>;
export type CreateKeyBody = Static<typeof CreateKeyBody>;
