import { flipBits } from "./bit-flips.ts";
import { skewClock } from "./clock-skew.ts";
import { breakDisk } from "./disk-errors.ts";
import { fillDisk } from "./full-disk.ts";
import { fuzzImages } from "./fuzz-images.ts";
import { hostileTenant } from "./hostile-tenant.ts";
import { inThread } from "./in-thread.ts";
import { killAppends } from "./kill-appends.ts";
import { killEvents } from "./kill-events.ts";
import { killUploads } from "./kill-uploads.ts";
import { largestRequests } from "./largest-requests.ts";
import { postgresRestarts } from "./postgres-restarts.ts";
import { cutPower } from "./power-cuts.ts";
import { rollingRestart } from "./rolling-restart.ts";
import { s3Faults } from "./s3-faults.ts";
import type { Scenario } from "./scenario.ts";
import { dripBytes } from "./slow-connections.ts";
import { soak } from "./soak.ts";
import { threeInstances } from "./three-instances.ts";

export interface ScenarioEntry {
  run: Scenario;
  /** What a round is called in the report. */
  unit: string;
  /** Unless the command line says otherwise. */
  rounds: number;
  /** Rounds that are judged together; a run that was cut short goes on after its last whole batch. */
  roundsPerBatch: number;
  lanes: number;
}

const threaded = (module: string, name: string) => inThread(new URL(module, import.meta.url), name);

export const scenarios: Record<string, ScenarioEntry> = {
  // Half a batch in each lane is enough to ask that every operation has succeeded.
  fuzz: {
    run: threaded("./fuzz/fuzz.ts", "fuzz"),
    unit: "requests",
    rounds: 1_000_000,
    roundsPerBatch: 100_000,
    lanes: 2,
  },
  "fuzz-images": { run: fuzzImages, unit: "images", rounds: 10_000, roundsPerBatch: 500, lanes: 1 },
  "kill-uploads": { run: killUploads, unit: "kills", rounds: 1_000, roundsPerBatch: 200, lanes: 2 },
  "kill-appends": { run: killAppends, unit: "kills", rounds: 300, roundsPerBatch: 100, lanes: 1 },
  "kill-events": { run: killEvents, unit: "kills", rounds: 1_000, roundsPerBatch: 200, lanes: 2 },
  "bit-flips": { run: flipBits, unit: "blobs", rounds: 1_000, roundsPerBatch: 500, lanes: 1 },
  "race-completes": {
    run: threaded("./race-completes.ts", "raceCompletes"),
    unit: "files",
    rounds: 1_000,
    roundsPerBatch: 100,
    lanes: 2,
  },
  "race-quota": {
    run: threaded("./race-quota.ts", "raceQuota"),
    unit: "races",
    rounds: 100,
    roundsPerBatch: 10,
    lanes: 2,
  },
  // Ten times a hundred of each kind, on each database.
  "race-life": {
    run: threaded("./race-life.ts", "raceLife"),
    unit: "hundreds of races",
    rounds: 60,
    roundsPerBatch: 6,
    lanes: 2,
  },
  "swap-content": {
    run: threaded("./swap-content.ts", "swapContent"),
    unit: "files",
    rounds: 1_000,
    roundsPerBatch: 250,
    lanes: 2,
  },
  "full-disk": { run: fillDisk, unit: "offsets", rounds: 50, roundsPerBatch: 50, lanes: 1 },
  "disk-errors": { run: breakDisk, unit: "faults", rounds: 200, roundsPerBatch: 50, lanes: 1 },
  "power-cuts": { run: cutPower, unit: "cuts", rounds: 100, roundsPerBatch: 50, lanes: 1 },
  "slow-connections": { run: dripBytes, unit: "connections", rounds: 2_000, roundsPerBatch: 2_000, lanes: 1 },
  "hostile-tenant": { run: hostileTenant, unit: "seconds", rounds: 1_200, roundsPerBatch: 1_200, lanes: 1 },
  "largest-requests": {
    run: largestRequests,
    unit: "requests of each kind",
    rounds: 20,
    roundsPerBatch: 20,
    lanes: 1,
  },
  "rolling-restart": { run: rollingRestart, unit: "restarts", rounds: 24, roundsPerBatch: 1_000, lanes: 1 },
  "three-instances": { run: threeInstances, unit: "faults", rounds: 40, roundsPerBatch: 1_000, lanes: 1 },
  "s3-faults": { run: s3Faults, unit: "uploads", rounds: 300, roundsPerBatch: 100_000, lanes: 1 },
  "postgres-restarts": {
    run: postgresRestarts,
    unit: "restarts",
    rounds: 100,
    roundsPerBatch: 1_000,
    lanes: 1,
  },
  "clock-skew": { run: skewClock, unit: "pairs of instances", rounds: 10, roundsPerBatch: 10, lanes: 1 },
  histories: {
    run: threaded("./histories.ts", "runHistories"),
    unit: "histories",
    rounds: 10_000,
    roundsPerBatch: 500,
    lanes: 2,
  },
  // As many samples as two hours have.
  soak: { run: soak, unit: "samples of memory", rounds: 1_440, roundsPerBatch: 1_440, lanes: 1 },
};
