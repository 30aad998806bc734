import { fuzz } from "./fuzz/fuzz.ts";
import { killEvents } from "./kill-events.ts";
import { killUploads } from "./kill-uploads.ts";
import type { Scenario } from "./scenario.ts";

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

export const scenarios: Record<string, ScenarioEntry> = {
  fuzz: { run: fuzz, unit: "requests", rounds: 1_000_000, roundsPerBatch: 50_000, lanes: 1 },
  "kill-uploads": { run: killUploads, unit: "kills", rounds: 1_000, roundsPerBatch: 200, lanes: 2 },
  "kill-events": { run: killEvents, unit: "kills", rounds: 1_000, roundsPerBatch: 200, lanes: 2 },
};
