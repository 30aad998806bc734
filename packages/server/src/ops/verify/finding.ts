import type { DamageReason } from "../../db/schema.ts";
import type { CounterDrift, CounterScope } from "../../projects/usage/recount.ts";

/** What a walk found wrong. */
export type Finding =
  /** The bytes of a confirmed file are not there or not the confirmed ones. Only a restore or a new upload can help. */
  | { kind: "damaged-file"; fileId: string; key: string; store: string; reason: DamageReason }
  /** A customer's bucket that holds the file does not respond, or the store is not one of this installation. */
  | { kind: "unchecked-file"; fileId: string; key: string; store: string; reason: string }
  /** No file or image variant refers to it. */
  | { kind: "orphaned-object"; key: string }
  /** The same, of a project that this database has never had. Never removed. */
  | { kind: "foreign-object"; key: string }
  | ({ kind: "wrong-counter" } & CounterScope & CounterDrift);

export type OnFinding = (finding: Finding) => void;
