import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { flipBits } from "../../torture/bit-flips.ts";
import { fillDisk } from "../../torture/full-disk.ts";
import { killAppends } from "../../torture/kill-appends.ts";
import { NotPossible } from "../../torture/not-possible.ts";
import { raceCompletes } from "../../torture/race-completes.ts";
import { raceQuota } from "../../torture/race-quota.ts";
import { createRandom } from "../../torture/random.ts";
import type { Outcome, Scenario } from "../../torture/scenario.ts";
import { swapContent } from "../../torture/swap-content.ts";

const run = (scenario: Scenario, rounds: number, seed: number): Promise<Outcome> =>
  scenario({ rounds, random: createRandom(seed), isTimeUp: () => false, onRound: () => {} });

const total = ({ counts }: Outcome, what: RegExp): number =>
  Object.entries(counts).reduce((sum, [name, count]) => sum + (what.test(name) ? count : 0), 0);

// Short versions; the long runs and what they found stand in docs/reliability.md.
const short: [string, Scenario, number, (outcome: Outcome) => void][] = [
  ["flipped bits are never served", flipBits, 20, (of) => assert.equal(total(of, /by the scrub/), 20)],
  ["of 100 completions one is accepted", raceCompletes, 2, (of) => assert.equal(total(of, /accepted/), 2)],
  ["200 clients get what is left of a quota", raceQuota, 1, (of) => assert.ok(total(of, /granted/) > 0)],
  ["confirmed bytes cannot be swapped", swapContent, 5, (of) => assert.equal(total(of, /403/), 30)],
];

for (const [what, scenario, rounds, check] of short) {
  const seed = randomInt(2 ** 31);
  test(`${what} (seed ${seed})`, async () => {
    const outcome = await run(scenario, rounds, seed);
    assert.deepEqual(outcome.violations, []);
    check(outcome);
  });
}

test("a disk that fills up at any offset answers 507 and keeps nothing", async (t) => {
  try {
    const outcome = await run(fillDisk, 5, 1);
    assert.deepEqual(outcome.violations, []);
    assert.equal(outcome.counts["responses with 507"], 5);
  } catch (error) {
    if (!(error instanceof NotPossible)) throw error;
    t.skip(error.message);
  }
});

test("kill -9 during appends loses nothing that was acknowledged", async (t) => {
  const seed = randomInt(2 ** 31);
  try {
    const outcome = await run(killAppends, 2, seed);
    assert.deepEqual(outcome.violations, [], `seed ${seed}`);
    assert.equal(total(outcome, /^kills on/), 2);
    assert.ok(total(outcome, /^uploads finished/) > 0);
  } catch (error) {
    if (!(error instanceof NotPossible)) throw error;
    t.skip(error.message);
  }
});
