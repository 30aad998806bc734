import {
  assertRacesCounted,
  prepareRaces,
  raceClaims,
  raceExpiries,
  raceRestorations,
} from "../packages/server/test/support/life-races.ts";
import { createUploadClient } from "../packages/server/test/support/upload-client.ts";
import type { Outcome, RunOptions } from "./scenario.ts";
import { createTally } from "./tally.ts";
import { withApp } from "./with-app.ts";

const filesPerRound = 100;

/** A round is a hundred races: claims, restorations and expiries by turns, each against the job that ends files. */
export function raceLife({ rounds, random, isTimeUp, onRound }: RunOptions): Promise<Outcome> {
  return withApp(random, async (app, database) => {
    app.clock.setTime(Date.now());
    const tenant = await app.createTenant("enterprise");
    const racers = { app, tenant, client: createUploadClient(app, tenant.live) };
    await prepareRaces(racers);
    const violations: string[] = [];
    const tally = createTally(`files on ${database}`, "claimed", "restored", "kept");
    const races = [raceClaims, raceRestorations, raceExpiries];
    for (let round = 1; round <= rounds && !isTimeUp(); round++) {
      const run = races[round % races.length] ?? raceClaims;
      try {
        for (const [name, wins] of Object.entries(await run(racers, filesPerRound))) tally.add(name, wins);
        tally.add(`files on ${database}`, filesPerRound);
        await assertRacesCounted(racers, round * filesPerRound);
      } catch (error) {
        violations.push(`${run.name}: ${(error as Error).message}`);
        break;
      }
      onRound(round, tally.counts);
    }
    return { counts: tally.counts, violations };
  });
}
