import { inspect } from "node:util";
import fc from "fast-check";
import { allCommands } from "../packages/server/test/support/model-commands.ts";
import {
  assertModelHolds,
  createWorld,
  type Model,
  type StoreKind,
} from "../packages/server/test/support/model-world.ts";
import type { DatabaseKind } from "../packages/server/test/support/start-app.ts";
import { swiftMissing } from "../test/support/swift.ts";
import type { Outcome, RunOptions } from "./scenario.ts";
import { createTally, type Tally } from "./tally.ts";

const commandsEach = 50;

interface Place {
  database: DatabaseKind;
  store: StoreKind;
  name: string;
  /** Of all histories; those on a bucket take several times as long. */
  share: number;
}

const onDisk: Place[] = [
  { database: "sqlite", store: "disk", name: "histories on sqlite and a disk", share: 0.45 },
  { database: "postgres", store: "disk", name: "histories on postgres and a disk", share: 0.45 },
];
const inBucket: Place[] = [
  { database: "sqlite", store: "s3", name: "histories on sqlite and a bucket", share: 0.05 },
  { database: "postgres", store: "s3", name: "histories on postgres and a bucket", share: 0.05 },
];

/** Random histories of everything that can happen to files, compared with a simple model of the service. */
export async function runHistories(options: RunOptions): Promise<Outcome> {
  const places = swiftMissing === false ? [...onDisk, ...inBucket] : onDisk;
  const tally = createTally(...places.map(({ name }) => name), "steps");
  const violations: string[] = [];
  const whole = places.reduce((sum, { share }) => sum + share, 0);
  let [doneShare, begun] = [0, 0];
  for (const place of places) {
    doneShare += place.share;
    const until = Math.round((options.rounds * doneShare) / whole);
    if (until > begun) violations.push(...(await runAt(place, until - begun, options, tally)));
    begun = until;
  }
  return { counts: tally.counts, violations };
}

async function runAt(place: Place, rounds: number, options: RunOptions, tally: Tally): Promise<string[]> {
  const seed = options.random.int(0, 2 ** 31 - 1);
  if (options.isTimeUp()) return [];
  const world = await createWorld(place.database, place.store);
  const commands = fc.commands(allCommands(place.store), { maxCommands: commandsEach, size: "max" });
  const property = fc.asyncProperty(commands, async (history) => {
    if (options.isTimeUp()) return;
    const model: Model = { files: [], uploads: { live: 0, test: 0 } };
    const real = await world.beginHistory();
    await fc.asyncModelRun(() => ({ model, real }), history);
    await assertModelHolds(model, real);
    tally.add(place.name);
    tally.add("steps", real.steps);
    options.onRound(1, tally.counts);
  });
  try {
    // Looking for a shorter one that fails too would take longer than all the others.
    const result = await fc.check(property, { numRuns: rounds, seed, endOnFailure: true });
    return result.failed
      ? [`${place.name}: ${fc.defaultReportMessage(result)}\n${inspect(result.errorInstance)}`]
      : [];
  } finally {
    await world.close();
  }
}
