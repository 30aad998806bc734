import pg from "pg";
import { DatabaseReadOnly, DatabaseUnavailable, UniqueViolation } from "../database.ts";

/** SQLSTATE classes which mean that the server is unavailable, not that the statement is wrong. */
const unavailable = /^(08...|25006|25P0[34]|28...|3D000|57P0[12345]|57014|53...)$/;
const conflict = /^(40001|40P01)$/;
const uniqueViolation = "23505";
/** Raised only by the triggers that reject changes. */
const refusedByTrigger = "UP001";

/** Turns an error of the driver into one that the service knows. */
export function explain(error: unknown): unknown {
  // Not from the server: there is no connection, or no response. Most of these errors have no code.
  if (!(error instanceof pg.DatabaseError)) return unavailableAs(error);
  const { code = "", severity } = error;
  if (code === uniqueViolation) return new UniqueViolation("the value is taken", { cause: error });
  if (code === refusedByTrigger) return new DatabaseReadOnly("the database is read-only", { cause: error });
  // Fatal errors end the connection whatever was sent, such as for an unknown parameter in the URL.
  return unavailable.test(code) || severity === "FATAL" ? unavailableAs(error) : error;
}

/** The connection is gone or silent. */
export function isLost(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && !(error.cause instanceof pg.DatabaseError);
}

/** Nothing was changed, and a retry can succeed. */
export function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && conflict.test(error.code ?? "");
}

export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "55P03";
}

/** The statement was only rejected because another one of its transaction had failed. */
export function isConsequence(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "25P02";
}

/** The server has rejected a statement, and with it the whole transaction; not because it is unavailable. */
export function isRefused(error: unknown): boolean {
  return error instanceof pg.DatabaseError || error instanceof UniqueViolation;
}

/** Another instance's migration has changed what the prepared statement returns. */
export function isOutdated(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.routine === "RevalidateCachedQuery";
}

/** Uses the server's message if there is one: few operators know what 28P01 means. */
function unavailableAs(error: unknown): DatabaseUnavailable {
  const { message = "", code = "" } = error as { message?: string; code?: string };
  const words = message.trim().replaceAll(/\s*\n\s*/g, " ");
  const detail = words === "" ? ` (${code})` : words.includes(code) ? `: ${words}` : `: ${words} (${code})`;
  return new DatabaseUnavailable(`PostgreSQL is not available${detail}`, { cause: error });
}
