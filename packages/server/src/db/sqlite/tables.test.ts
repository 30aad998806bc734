import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { createTableFinder } from "./recall.ts";

describe("the tables of a statement", () => {
  const database = new DatabaseSync(":memory:");
  database.exec(`
    CREATE TABLE parent (id TEXT PRIMARY KEY);
    CREATE TABLE child (id TEXT REFERENCES parent (id) ON DELETE CASCADE);
    CREATE TABLE noticed (id TEXT);
    CREATE TABLE watched (id TEXT);
    CREATE TRIGGER notice AFTER UPDATE ON watched BEGIN INSERT INTO noticed VALUES (new.id); END;
  `);
  const findTables = createTableFinder(database);
  const changesOf = (sql: string) => [...findTables(sql).changes].sort();

  it("are all that it reads, in joins and conditions too", () => {
    const { reads, changes } = findTables(`
      SELECT parent.id FROM parent JOIN child ON child.id = parent.id
      WHERE EXISTS (SELECT 1 FROM watched) ORDER BY (SELECT count(*) FROM noticed)`);
    assert.deepEqual([[...reads].sort(), changes], [["child", "noticed", "parent", "watched"], []]);
  });

  it("are all that it changes, by foreign keys and triggers too", () => {
    assert.deepEqual(changesOf("INSERT INTO child VALUES ('1') ON CONFLICT DO NOTHING"), ["child"]);
    assert.deepEqual(changesOf("DELETE FROM parent WHERE id = '1'"), ["child", "parent"]);
    assert.deepEqual(changesOf("UPDATE watched SET id = '2' RETURNING id"), ["noticed", "watched"]);
  });
});
