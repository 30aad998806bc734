import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createCheckpoint, runBatches, type Wanted } from "../../torture/batches.ts";
import { findCheckpoint, removeCheckpoint } from "../../torture/checkpoint.ts";
import type { Outcome, RunOptions } from "../../torture/scenario.ts";

const name = "test-of-batches";
after(() => removeCheckpoint(name));

/** Counts its rounds; breaks off, as a process that is killed does, or finds something wrong when told to. */
function createScenario(seen: number[], trouble: { failsAt?: number; violatesAt?: number } = {}) {
  return async ({ rounds, random, onRound }: RunOptions): Promise<Outcome> => {
    seen.push(random.int(0, 1_000_000));
    if (seen.length === trouble.failsAt) throw new Error("cut short");
    for (let round = 1; round <= rounds; round++) onRound(round, { rounds: round });
    return { counts: { rounds }, violations: seen.length === trouble.violatesAt ? ["something broke"] : [] };
  };
}

const want = (run: ReturnType<typeof createScenario>): Wanted => ({
  name,
  entry: { run, unit: "rounds", rounds: 10, roundsPerBatch: 4, lanes: 1 },
  rounds: 10,
  seed: 7,
  lanes: 1,
  minutes: 1,
});

test("a run that was cut short goes on with the same choices after its last whole batch", async () => {
  const whole: number[] = [];
  const wholeWanted = want(createScenario(whole));
  const straight = await runBatches(wholeWanted, createCheckpoint(wholeWanted));
  assert.deepEqual([straight.counts, straight.doneRounds, whole.length], [{ rounds: 10 }, 10, 3]);
  assert.equal(findCheckpoint(name), null, "nothing is left to take up");

  const seen: number[] = [];
  const cut = want(createScenario(seen, { failsAt: 2 }));
  await assert.rejects(runBatches(cut, createCheckpoint(cut)), /cut short/);
  const left = findCheckpoint(name);
  assert.equal(left?.doneRounds, 4);
  const resumed = await runBatches(cut, left ?? createCheckpoint(cut));
  assert.deepEqual([resumed.counts, resumed.doneRounds], [{ rounds: 10 }, 10]);
  assert.deepEqual([seen[0], ...seen.slice(2)], whole);
});

test("a violation names the rounds and the seed that repeat it", async () => {
  const broken = want(createScenario([], { violatesAt: 2 }));
  const { violations } = await runBatches(broken, createCheckpoint(broken));
  assert.deepEqual(violations, ["something broke\n  repeat with --rounds 4 --seed 1007"]);
});
