import type { Static } from "typebox";
import { TIER_NAMES } from "../tiers.ts";
import Type from "../type.ts";
import { NullableInteger, StringEnum } from "./shared.ts";

export const UsageRecord = Type.Object({
  period: Type.String({ pattern: "^\\d{4}-\\d{2}$" }),
  storageBytes: Type.Integer(),
  uploads: Type.Integer(),
  bandwidthBytes: Type.Integer(),
  transformUnits: Type.Integer(),
});

/** The current month, including what open uploads have reserved. */
export const CurrentUsage = Type.Object({
  ...UsageRecord.properties,
  reservedUploads: Type.Integer({ description: "open uploads this month" }),
  reservedBytes: Type.Integer({ description: "storage reserved by open uploads" }),
});

export const UsageLimits = Type.Object({
  storageBytes: NullableInteger,
  uploads: NullableInteger,
  bandwidthBytes: NullableInteger,
  transformUnits: NullableInteger,
  maxFileSize: NullableInteger,
  projects: NullableInteger,
  keys: NullableInteger,
});

export const Usage = Type.Object({ usage: CurrentUsage, limits: UsageLimits, tier: StringEnum(TIER_NAMES) });

export const UsageHistoryQuery = Type.Object({
  months: Type.Optional(Type.Integer({ minimum: 1, maximum: 120, default: 12 })),
});
export const UsageHistory = Type.Object({ usage: Type.Array(UsageRecord) });

export type UsageRecord = Static<typeof UsageRecord>;
export type Usage = Static<typeof Usage>;
