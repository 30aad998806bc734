import { constants, type DatabaseSync } from "node:sqlite";

/** What a statement reads and changes, with everything that triggers and foreign keys add to it. */
export interface Tables {
  reads: readonly string[];
  changes: readonly string[];
}

const changing: number[] = [constants.SQLITE_INSERT, constants.SQLITE_UPDATE, constants.SQLITE_DELETE];

/** Asks the engine itself. On a connection of its own: to ask makes a connection prepare all its statements anew. */
export function createTableFinder(database: DatabaseSync): (sql: string) => Tables {
  let [reads, changes] = [new Set<string>(), new Set<string>()];
  database.setAuthorizer((action, table) => {
    if (table !== null && action === constants.SQLITE_READ) reads.add(table);
    if (table !== null && changing.includes(action)) changes.add(table);
    return constants.SQLITE_OK;
  });
  return (sql) => {
    [reads, changes] = [new Set(), new Set()];
    database.prepare(sql);
    return { reads: [...reads], changes: [...changes] };
  };
}
