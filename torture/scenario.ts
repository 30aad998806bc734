import { setTimeout as wait } from "node:timers/promises";
import type { Server } from "./installation.ts";
import { createRandom, type Random } from "./random.ts";

export interface RunOptions {
  rounds: number;
  random: Random;
  /** The rounds that are left then are left out; what was begun is still judged. */
  isTimeUp(): boolean;
  /** Called after each round with what was counted so far. */
  onRound(round: number, counts: Record<string, number>): void;
}

export interface Outcome {
  counts: Record<string, number>;
  violations: string[];
}

export type Scenario = (options: RunOptions) => Promise<Outcome>;

export interface LaneOptions {
  rounds: number;
  seed: number;
  lanes: number;
  isTimeUp: RunOptions["isTimeUp"];
  onRound: RunOptions["onRound"];
}

/** Shares the rounds among several installations, since most of a round is one server's start. */
export async function runLanes(
  scenario: Scenario,
  { rounds, seed, lanes, isTimeUp, onRound }: LaneOptions,
): Promise<Outcome> {
  const countsByLane: Record<string, number>[] = [];
  let done = 0;
  const outcomes = await Promise.all(
    Array.from({ length: Math.min(lanes, rounds) }, (_, lane) =>
      scenario({
        rounds: Math.floor(rounds / lanes) + (lane < rounds % lanes ? 1 : 0),
        random: createRandom(seed + lane),
        isTimeUp,
        onRound(_round, counts) {
          countsByLane[lane] = counts;
          onRound(++done, sumUp(countsByLane));
        },
      }),
    ),
  );
  return {
    counts: sumUp(outcomes.map(({ counts }) => counts)),
    violations: outcomes.flatMap(({ violations }) => violations),
  };
}

export function sumUp(all: Record<string, number>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const counts of all) {
    for (const [name, count] of Object.entries(counts ?? {})) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}

/** A promise that the server broke. */
export class Violation extends Error {}

/**
 * Runs what the clients do, side by side, until they are done. A connection that breaks before the server was
 * killed is a violation as well.
 */
export async function runClients(
  server: Server,
  clients: (() => Promise<void>)[],
  violations: string[],
): Promise<void> {
  const results = await Promise.allSettled(clients.map((client) => client()));
  for (const result of results) {
    if (result.status === "fulfilled") continue;
    const { reason } = result;
    if (reason instanceof Violation) violations.push(reason.message);
    else if (!server.isKilled()) violations.push(`a call to a running server failed: ${describe(reason)}`);
  }
}

/**
 * Waits for a number of answers and a moment more, so that on a slow machine too the kill finds the server in
 * the middle of its work.
 */
export async function waitForMoment(random: Random, answers: () => number): Promise<void> {
  const enough = answers() + random.int(0, 60);
  const deadlineMs = Date.now() + 3_000;
  while (answers() < enough && Date.now() < deadlineMs) await wait(2);
  await wait(random.int(0, 20));
}

function describe(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason);
  return reason.cause instanceof Error ? `${reason.message} (${reason.cause.message})` : reason.message;
}
