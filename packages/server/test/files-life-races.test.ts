import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { isQuickRun } from "../../../test/support/quick-run.ts";
import {
  assertRacesCounted,
  prepareRaces,
  type Racers,
  raceClaims,
  raceExpiries,
  raceRestorations,
} from "./support/life-races.ts";
import { onBothDatabases, startApp } from "./support/start-app.ts";
import { createUploadClient } from "./support/upload-client.ts";

const count = isQuickRun ? 80 : 1_000;

onBothDatabases("at the end of a file's life", (database) => {
  let racers: Racers;
  let uploads = 0;
  before(async () => {
    const app = await startApp({ database });
    app.clock.setTime(Date.now());
    const tenant = await app.createTenant("enterprise");
    racers = { app, tenant, client: createUploadClient(app, tenant.live) };
    await prepareRaces(racers);
  });
  after(() => racers.app.close());

  for (const [name, run] of [
    ["a claim or the job that deletes unclaimed files", raceClaims],
    ["a restoration or the end of the trash", raceRestorations],
    ["whoever keeps a file or its expiry", raceExpiries],
  ] as const)
    it(`one wins: ${name}`, async () => {
      const [wins = 0] = Object.values(await run(racers, count));
      uploads += count;
      // The moment comes in the middle of the calls, so both sides have their share.
      assert.ok(wins > 0 && wins < count, `${wins} of ${count}`);
      await assertRacesCounted(racers, uploads);
    });
});
