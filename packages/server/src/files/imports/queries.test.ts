import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { it } from "node:test";
import { imports } from "../../db/migrations/034-imports.ts";
import { listNext } from "./queries.ts";

it("an account's waiting imports are not read to find the one that is next", () => {
  const db = new DatabaseSync(":memory:", { enableForeignKeyConstraints: false });
  db.exec(imports);
  const { sql, bind } = listNext.compile("sqlite");
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...(bind({ now: 1, take: 8 }) as number[]));
  db.close();
  const steps = plan.map(({ detail }) => String(detail)).filter((step) => step.includes("file_import"));
  assert.ok(steps.length >= 4, `${steps.length} steps`);
  for (const step of steps) assert.match(step, /^SEARCH file_import USING (?:COVERING )?INDEX /);
});
