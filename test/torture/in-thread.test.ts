import assert from "node:assert/strict";
import { test } from "node:test";
import { inThread } from "../../torture/in-thread.ts";
import { createRandom } from "../../torture/random.ts";
import type { Scenario } from "../../torture/scenario.ts";

const scenario = (code: string): Scenario =>
  inThread(new URL(`data:text/javascript,${encodeURIComponent(`export const run = ${code}`)}`), "run");

const counting = scenario(`async ({ rounds, random, onRound }) => {
  const counts = { chosen: random.int(0, 1e9) };
  for (let round = 1; round <= rounds; round++) onRound(round, counts);
  return { counts, violations: ["one"] };
}`);

async function run(of: Scenario, seed: number, isTimeUp = () => false) {
  let rounds = 0;
  const onRound = () => {
    rounds++;
  };
  const outcome = await of({ rounds: 25, random: createRandom(seed), isTimeUp, onRound });
  return { rounds, ...outcome };
}

test("a scenario in a thread tells every round and what came out, and a seed makes the same choices", async () => {
  const first = await run(counting, 7);
  assert.deepEqual([first.rounds, first.violations], [25, ["one"]]);
  assert.deepEqual((await run(counting, 7)).counts, first.counts);
  assert.notDeepEqual((await run(counting, 8)).counts, first.counts);
});

test("a thread hears that its time is up", async () => {
  const waiting = scenario(`async ({ isTimeUp }) => {
    while (!isTimeUp()) await new Promise((resolve) => setTimeout(resolve, 5));
    return { counts: {}, violations: [] };
  }`);
  assert.deepEqual(await run(waiting, 1, () => true), { rounds: 0, counts: {}, violations: [] });
});

test("what a thread throws is thrown", async () => {
  await assert.rejects(run(scenario(`async () => { throw new Error("broken off") }`), 1), /broken off/);
});
