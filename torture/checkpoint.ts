import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Outcome } from "./scenario.ts";

/** A run that has not ended: what it was asked for, and what its whole batches have found. */
export interface Checkpoint extends Outcome {
  name: string;
  seed: number;
  lanes: number;
  rounds: number;
  /** In whole batches. */
  doneRounds: number;
  doneBatches: number;
  tookMs: number;
}

const pathOf = (name: string): string =>
  fileURLToPath(new URL(`../node_modules/.cache/upstow-torture/${name}.json`, import.meta.url));

export function findCheckpoint(name: string): Checkpoint | null {
  try {
    return JSON.parse(readFileSync(pathOf(name), "utf8"));
  } catch {
    return null;
  }
}

export function saveCheckpoint(checkpoint: Checkpoint): void {
  const path = pathOf(checkpoint.name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(checkpoint));
}

export function removeCheckpoint(name: string): void {
  rmSync(pathOf(name), { force: true });
}
