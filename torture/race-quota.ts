import { GB, MB, TIERS } from "@upstow/contract";
import { statement } from "../packages/server/src/db/statement.ts";
import { findUsageTotal } from "../packages/server/src/projects/usage/queries.ts";
import type { TestApp } from "../packages/server/test/support/start-app.ts";
import { createUploadClient } from "../packages/server/test/support/upload-client.ts";
import type { Random } from "./random.ts";
import type { Outcome, RunOptions } from "./scenario.ts";
import { createTally } from "./tally.ts";
import { withApp } from "./with-app.ts";

const clients = 200;

interface Used {
  projectId: string;
  period: string;
  storedBytes: number;
  uploads: number;
}

const setStored = statement((q, p: Used) =>
  q
    .updateTable("usage_total")
    .set({ stored_bytes: p.storedBytes })
    .where("project_id", "=", p.projectId)
    .where("environment", "=", "live"),
);
const setUploads = statement((q, p: Used) =>
  q.insertInto("usage_period").values({
    project_id: p.projectId,
    environment: "live",
    period: p.period,
    uploads: p.uploads,
    reserved_uploads: 0,
    bandwidth_bytes: 0,
    transform_units: 0,
    stored_bytes: p.storedBytes,
  }),
);

/** Two hundred clients ask at once for what is left of a quota: exactly that much is given. */
export function raceQuota({ rounds, random, isTimeUp, onRound }: RunOptions): Promise<Outcome> {
  return withApp(random, async (app, database) => {
    const violations: string[] = [];
    const tally = createTally(`races on ${database}`, "requests", "granted", "bytes over the quota");
    for (let round = 1; round <= rounds && !isTimeUp(); round++) {
      const race = await raceOnce(app, random);
      tally.add(`races on ${database}`, 1);
      tally.add("requests", clients);
      tally.add("granted", race.given);
      tally.add("bytes over the quota", race.overshootBytes);
      if (race.given !== race.left || race.overshootBytes > 0 || race.odd.length > 0)
        violations.push(
          `room for ${race.left}: ${JSON.stringify(race)} ${app.logLines.findLast((l) => l.includes('"err"'))}`,
        );
      onRound(round, tally.counts);
    }
    return { counts: tally.counts, violations };
  });
}

async function raceOnce(app: TestApp, random: Random) {
  const { projectId, live } = await app.createTenant("free");
  const { storageBytes, uploadsPerMonth: uploads } = TIERS.free;
  const limitBytes = storageBytes ?? 5 * GB;
  const left = random.int(1, clients - 1);
  const sizeBytes = random.int(1, 4 * MB);
  const isByBytes = random.chance(0.5);
  const spareBytes = random.int(0, sizeBytes - 1);
  const used = {
    projectId,
    period: new Date(app.clock.now()).toISOString().slice(0, 7),
    storedBytes: isByBytes ? limitBytes - left * sizeBytes - spareBytes : 0,
    uploads: isByBytes ? 0 : (uploads ?? 0) - left,
  };
  await app.app.deps.db.run(setStored, used);
  await app.app.deps.db.run(setUploads, used);
  const client = createUploadClient(app, live);
  const all = Array.from({ length: clients }, () => client.requestAnswer({ fileSize: sizeBytes }));
  const answers = await Promise.all(all);
  const given = answers.filter(({ status }) => status === 200).length;
  const odd = answers.filter(
    ({ status, body }) => status !== 200 && body.error?.code !== "TIER_LIMIT_EXCEEDED",
  );
  const totals = await app.app.deps.db.get(findUsageTotal, { projectId, environment: "live" });
  if (totals === null) throw new Error("the project has no totals");
  const usedBytes = totals.stored_bytes + totals.reserved_bytes;
  return {
    left,
    given,
    odd: odd.map(({ status, body }) => `${status} ${JSON.stringify(body)}`),
    overshootBytes: Math.max(0, usedBytes - limitBytes),
  };
}
