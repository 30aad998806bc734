import { type Checkpoint, removeCheckpoint, saveCheckpoint } from "./checkpoint.ts";
import { createProgress } from "./progress.ts";
import { type Outcome, runLanes, sumUp } from "./scenario.ts";
import type { ScenarioEntry } from "./scenarios.ts";

export interface Wanted {
  name: string;
  entry: ScenarioEntry;
  rounds: number;
  seed: number;
  lanes: number;
  minutes: number;
}

/** Batches are far apart, so that the lanes of one never repeat those of the next. */
const seedStep = 1_000;
const mostViolations = 20;

export const createCheckpoint = ({ name, seed, lanes, rounds }: Wanted): Checkpoint => ({
  name,
  seed,
  lanes,
  rounds,
  doneRounds: 0,
  doneBatches: 0,
  tookMs: 0,
  counts: {},
  violations: [],
});

/** Runs what is left of the rounds; each batch begins with nothing and is judged before the next begins. */
export async function runBatches(wanted: Wanted, from: Checkpoint): Promise<Checkpoint> {
  const { entry, name, rounds, lanes } = wanted;
  const startedMs = Date.now();
  const isTimeUp = () => Date.now() - startedMs > wanted.minutes * 60_000;
  const progress = createProgress(name, rounds);
  let state = from;
  while (state.doneRounds < rounds && !isTimeUp() && state.violations.length < mostViolations) {
    const seed = wanted.seed + state.doneBatches * seedStep;
    const planned = Math.min(entry.roundsPerBatch, rounds - state.doneRounds);
    let done = 0;
    const outcome = await runLanes(entry.run, {
      rounds: planned,
      seed,
      lanes,
      isTimeUp,
      onRound(round, counts) {
        done = round;
        progress.show(state.doneRounds + round, sumUp([state.counts, counts]));
      },
    });
    state = {
      ...state,
      doneRounds: state.doneRounds + done,
      doneBatches: state.doneBatches + 1,
      tookMs: from.tookMs + Date.now() - startedMs,
      counts: sumUp([state.counts, outcome.counts]),
      violations: [...state.violations, ...nameSeed(outcome, `--rounds ${planned} --seed ${seed}`)],
    };
    saveCheckpoint(state);
  }
  if (state.doneRounds >= rounds) removeCheckpoint(name);
  return state;
}

const nameSeed = ({ violations }: Outcome, repeat: string): string[] =>
  violations.map((violation) => `${violation}\n  repeat with ${repeat}`);
