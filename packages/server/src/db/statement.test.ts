import assert from "node:assert/strict";
import { constants, DatabaseSync } from "node:sqlite";
import { it } from "node:test";
import { callKey, statement } from "./statement.ts";

it("gives calls with different values different keys", () => {
  const calls: unknown[][] = [
    ["a", "b"],
    ["ab", ""],
    ["", "ab"],
    ["a"],
    ["1:a"],
    ["a1:b"],
    [1],
    ["1"],
    ["1;"],
    [1, 2],
    [12],
    [null],
    ["null"],
    [["a", "b"]],
    [["a"], ["b"]],
    [],
  ];
  const keys = calls.map((values) => callKey({ sql: "", bind: () => values }, {}));
  assert.equal(new Set(keys).size, calls.length);
});

it("is planned once by SQLite, whatever limit is given", () => {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE installation (id INTEGER PRIMARY KEY)");
  const { sql, bind } = statement((q, p: { take: number }) =>
    q.selectFrom("installation").select("id").orderBy("id").limit(p.take),
  ).compile("sqlite");
  const prepared = database.prepare(sql);
  let plans = 0;
  database.setAuthorizer((action) => {
    if (action === constants.SQLITE_SELECT) plans++;
    return constants.SQLITE_OK;
  });
  const read = (take: number) => prepared.all(...(bind({ take }) as number[]));
  read(1);
  const before = plans;
  read(2);
  read(3);
  assert.equal(plans, before);
  database.close();
});
