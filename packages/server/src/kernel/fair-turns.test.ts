import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createFairTurns } from "./fair-turns.ts";

describe("fair turns", () => {
  it("alternate between accounts", async () => {
    const turns = createFairTurns();
    const order: string[] = [];
    const take = (account: string) => turns.take(account, async () => void order.push(account));
    await Promise.all([take("a"), take("a"), take("a"), take("a"), take("b"), take("b")]);
    assert.deepEqual(order, ["a", "a", "b", "a", "b", "a"]);
  });

  it("leave a turn of the event loop between two steps", async () => {
    const turns = createFairTurns();
    const currentTurn = () => performance.nodeTiming.uvMetricsInfo.loopCount;
    const taken = await Promise.all(
      ["a", "a", "b", "c"].map((account) => turns.take(account, async () => currentTurn())),
    );
    assert.equal(new Set(taken).size, taken.length);
  });

  it("go on after a step that failed", async () => {
    const turns = createFairTurns();
    const failed = turns.take("a", () => Promise.reject(new Error("no")));
    const next = turns.take("a", async () => "yes");
    assert.equal(turns.waitingOf("a"), 1);
    await assert.rejects(failed, /no/);
    assert.equal(await next, "yes");
    assert.equal(turns.waitingOf("a"), 0);
  });
});
