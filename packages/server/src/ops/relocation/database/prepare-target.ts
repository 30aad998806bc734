import type { Database } from "../../../db/database.ts";
import { migrate } from "../../../db/migrate.ts";
import type { RelocationTable } from "../../../db/schema.ts";
import { tableNames } from "../../../db/table-names.ts";
import { findRelocation } from "../../../http/read-only/queries.ts";
import { AppError } from "../../../kernel/errors.ts";
import { countRows, raw } from "./table-shape.ts";

const listTables = raw<{ name: string }>(
  "select tablename as name from pg_tables where schemaname = current_schema()",
);
/** Filled by whoever only starts a service or a copy. */
const mayHoldRows = ["migration", "rate_window", "relocation", "relocated_table"];

/** Makes the schema in an empty database, or finds the copy that was begun in it. Anything else is refused. */
export async function prepareTarget(
  target: Database,
  installation: string,
  description: string,
): Promise<RelocationTable | null> {
  const tables = (await target.all(listTables, [])).map(({ name }) => name);
  if (tables.length > 0 && !tables.includes("migration")) {
    throw refused(`${description} holds tables of something else.`);
  }
  await migrate(target);
  const begun = await target.get(findRelocation, { name: "database" });
  if (begun === null) await checkEmpty(target, description);
  else if (begun.installation !== installation) {
    throw refused(`${description} holds a copy of another installation.`);
  }
  return begun;
}

async function checkEmpty(target: Database, description: string): Promise<void> {
  for (const table of tableNames) {
    if (mayHoldRows.includes(table)) continue;
    if ((await countRows(target, table)) > 0)
      throw refused(`${description} already holds an installation of Upstow (there are rows in ${table}).`);
  }
}

function refused(message: string): AppError {
  return new AppError("VALIDATION_ERROR", message, {
    suggestion: "Make an empty database for it and name that in UPSTOW_DATABASE_URL.",
  });
}
