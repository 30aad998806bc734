import fc from "fast-check";
import { allCommands } from "../packages/server/test/support/model-commands.ts";
import { assertModelHolds, createWorld, type Model } from "../packages/server/test/support/model-world.ts";
import type { Outcome, RunOptions } from "./scenario.ts";
import { createTally } from "./tally.ts";

const commandsEach = 50;

/** Random histories of everything that can happen to files, compared with a simple model of the service. */
export async function runHistories({ rounds, random, isTimeUp, onRound }: RunOptions): Promise<Outcome> {
  const database = random.chance(0.5) ? "sqlite" : "postgres";
  const world = await createWorld(database);
  const tally = createTally(`histories on ${database}`, "steps");
  const commands = fc.commands(allCommands(), { maxCommands: commandsEach, size: "max" });
  const property = fc.asyncProperty(commands, async (history) => {
    if (isTimeUp()) return;
    const model: Model = { files: [], uploads: { live: 0, test: 0 } };
    const real = await world.beginHistory();
    await fc.asyncModelRun(() => ({ model, real }), history);
    await assertModelHolds(model, real);
    tally.add(`histories on ${database}`);
    tally.add("steps", real.steps);
    onRound(1, tally.counts);
  });
  try {
    const result = await fc.check(property, { numRuns: rounds, seed: random.int(0, 2 ** 31 - 1) });
    const violations = result.failed ? [fc.defaultReportMessage(result) ?? "a history diverged"] : [];
    return { counts: tally.counts, violations };
  } finally {
    await world.close();
  }
}
