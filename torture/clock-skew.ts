import { globSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { openPostgres } from "../packages/server/src/db/postgres/postgres.ts";
import { spawnServer } from "../packages/server/test/support/spawn-server.ts";
import { createTestDatabase } from "../test/support/postgres.ts";
import { liftRateLimits } from "./installation.ts";
import { NotPossible } from "./not-possible.ts";
import type { Random } from "./random.ts";
import type { Outcome, RunOptions } from "./scenario.ts";
import { createTally, type Tally } from "./tally.ts";
import { createUploader, type Upload } from "./uploads.ts";

const uploadsEach = 20;
/** The abandoned are looked for every minute. */
const reaperMs = 75_000;

/** Two instances on one database, one of them hours off: it must not end uploads that are open on the other. */
export async function skewClock({ rounds, random, isTimeUp, onRound }: RunOptions): Promise<Outcome> {
  const [library] = globSync("/usr/lib/*/faketime/libfaketime.so.1");
  if (library === undefined) throw new NotPossible("libfaketime is not installed");
  const violations: string[] = [];
  const tally = createTally("uploads left open meanwhile", "finished afterwards");
  for (let round = 1; round <= rounds && !isTimeUp(); round++) {
    const hours = random.int(2, 48);
    const skew = random.chance(0.7) ? `+${hours}h` : `-${hours}h`;
    violations.push(...(await runBeside({ library, skew }, random, tally)));
    onRound(round, tally.counts);
  }
  return { counts: tally.counts, violations };
}

async function runBeside(
  { library, skew }: { library: string; skew: string },
  random: Random,
  tally: Tally,
): Promise<string[]> {
  const database = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), "upstow-skewed-"));
  const env = { UPSTOW_DATABASE_URL: database.url, UPSTOW_SECRET: "a secret that both instances know" };
  const right = await spawnServer({ ...env, UPSTOW_DATA_DIR: join(folder, "right") });
  const wrong = await spawnServer({
    ...env,
    UPSTOW_DATA_DIR: join(folder, "wrong"),
    LD_PRELOAD: library,
    FAKETIME: skew,
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  });
  const violations: string[] = [];
  try {
    const db = openPostgres(database.url);
    await liftRateLimits(db);
    await db.close();
    const uploader = createUploader({ call: right.call, key: right.keys.live }, random, () => {});
    const open: Upload[] = [];
    for (let i = 0; i < uploadsEach; i++) open.push(await uploader.openSingle());
    tally.add("uploads left open meanwhile", open.length);
    await wait(reaperMs);
    for (const upload of open) {
      await uploader.finish(upload).then(
        () => tally.add("finished afterwards"),
        (error) => void violations.push(`beside a clock of ${skew}: ${error.message}`),
      );
    }
    return violations;
  } finally {
    for (const server of [wrong, right]) {
      server.process.kill("SIGTERM");
      await server.ended;
    }
    await rm(folder, { recursive: true, force: true });
    await database.drop();
  }
}
