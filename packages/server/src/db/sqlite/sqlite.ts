import { EventEmitter } from "node:events";
import type { Database } from "../database.ts";
import { createCheckpoints } from "./checkpoints.ts";
import { DatabaseDamaged, guardEngine, openConnection } from "./connection.ts";
import { createGroupCommit } from "./group-commit.ts";
import { anyTable, createRecall, createSnapshot, createTableFinder } from "./recall.ts";

/** The embedded engine. Reads never see changes that are not yet durable. */
export function openSqlite(path: string): Database {
  const reader = guardEngine(() => openConnection(path));
  const findTables = createTableFinder(reader.database);
  const findChanges = (sql: string) => {
    try {
      return findTables(sql).changes;
    } catch {
      // For a table that only the current transaction knows.
      return [anyTable];
    }
  };
  const writer = guardEngine(() => openConnection(path, findChanges));
  // The engine would block the whole process while waiting for a lock; the group commit waits asynchronously.
  writer.database.exec("PRAGMA busy_timeout = 0");
  reader.database.exec("PRAGMA query_only = ON");
  const messages = new EventEmitter();
  const snapshot = createSnapshot(writer, reader);
  const { forget, ...recall } = createRecall(snapshot, findTables);
  const checkpoints = createCheckpoints(writer.database);
  const { transact, drain } = createGroupCommit(writer, snapshot, (tables, transactions) => {
    forget(tables);
    checkpoints.count(transactions);
  });

  return {
    dialect: "sqlite",
    ...recall,
    all: async (statement, params) => snapshot.open().all(statement, params),
    get: async (statement, params) => snapshot.open().get(statement, params),
    run: (statement, params) => transact((tx) => tx.run(statement, params)),
    change: (statement, params) => transact((tx) => tx.all(statement, params)),
    transact,
    migrate: (work) =>
      transact((tx) =>
        work({
          ...tx,
          async script(sql) {
            writer.changed.add(anyTable);
            // Only here may the schema itself be edited.
            writer.database.enableDefensive(false);
            try {
              guardEngine(() => writer.database.exec(sql));
            } finally {
              writer.database.enableDefensive(true);
            }
          },
        }),
      ),
    async notify(channel, message) {
      messages.emit(channel, message);
    },
    async listen(channel, onMessage) {
      messages.on(channel, onMessage);
    },
    async check() {
      if (reader.isDamaged() || writer.isDamaged()) throw new DatabaseDamaged();
      guardEngine(() => reader.database.prepare("SELECT 1 FROM sqlite_schema").get());
    },
    async close() {
      await drain();
      snapshot.end();
      await checkpoints.close();
      reader.database.close();
      writer.database.close();
    },
  };
}
