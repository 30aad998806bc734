import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import { webhooks } from "../db/migrations/004-webhooks.ts";
import { webhookOrder } from "../db/migrations/016-webhook-order.ts";
import { listDue } from "./queue-queries.ts";

describe("claiming what is due to an endpoint", () => {
  it("sorts nothing, however many messages became due at the same moment", () => {
    const db = new DatabaseSync(":memory:", { enableForeignKeyConstraints: false });
    db.exec(webhooks + webhookOrder);
    const { sql, bind } = listDue.compile("sqlite");
    const values = bind({ endpointId: "e", take: 8 }) as string[];
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
    db.close();
    assert.equal(plan.length, 1);
    assert.match(String(plan[0]?.["detail"]), /^SEARCH webhook_message USING INDEX webhook_message_due /);
  });
});
