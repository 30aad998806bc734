import pg from "pg";
import { DatabaseReadOnly, DatabaseUnavailable, UniqueViolation } from "../database.ts";

/** SQLSTATE classes that mean the server is away or lets nobody in, not that the statement is wrong. */
const unavailable = /^(08...|25006|25P0[34]|28...|3D000|57P0[12345]|57014|53...)$/;
const conflict = /^(40001|40P01)$/;
const uniqueViolation = "23505";
/** Raised by the triggers that refuse changes, and by nothing else. */
const refusedByTrigger = "UP001";

/** What the service makes of an error of the driver. */
export function explain(error: unknown): unknown {
  // Not said by the server: there is no connection, or no answer. Most of these have no code.
  if (!(error instanceof pg.DatabaseError)) return unavailableAs(error);
  const { code = "", severity } = error;
  if (code === uniqueViolation) return new UniqueViolation("the value is taken", { cause: error });
  if (code === refusedByTrigger) return new DatabaseReadOnly("the database is read-only", { cause: error });
  // What is fatal ends the connection, whatever was asked over it.
  return unavailable.test(code) || severity === "FATAL" ? unavailableAs(error) : error;
}

/** The driver has found that nothing comes over the connection any more. */
export function isLost(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && !(error.cause instanceof pg.DatabaseError);
}

/** Nothing was changed, and the same again can succeed. */
export function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && conflict.test(error.code ?? "");
}

/** Since the statement was prepared, a migration of another instance has changed what it returns. */
export function isOutdated(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.routine === "RevalidateCachedQuery";
}

/** In the server's words where it has some: few operators know what 28P01 is. */
function unavailableAs(error: unknown): DatabaseUnavailable {
  const { message = "", code = "" } = error as { message?: string; code?: string };
  const words = message.trim().replaceAll(/\s*\n\s*/g, " ");
  const detail = words === "" ? ` (${code})` : words.includes(code) ? `: ${words}` : `: ${words} (${code})`;
  return new DatabaseUnavailable(`PostgreSQL is not available${detail}`, { cause: error });
}
