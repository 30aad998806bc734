import { type Load, startLoad } from "./load.ts";
import type { LoadResult } from "./load-job.ts";
import type { Target } from "./scenario.ts";

/** One server doing one thing. */
export interface Contender {
  name: string;
  scenario: string;
  target: Target;
  clients: number;
  /** How often it is done before anything counts; fewer where an operation is large. */
  warmUpOperations?: number;
  pids: { server: number | readonly number[]; database?: number; proxy?: number };
}

export interface RoundOptions {
  rounds: number;
  seconds: number;
}

const warmUpSec = 2;
const longestWarmUpSec = 20;
/** V8 goes on optimising for thousands of calls; until then a request can cost twice as much. */
const warmUpOperations = 5000;

/**
 * Measures all contenders once a round, one after another, so that whatever else the machine does meets all of
 * them. Each round begins with another one. The answer holds a contender's results in the order of the rounds.
 */
export async function runRounds(
  contenders: readonly Contender[],
  { rounds, seconds }: RoundOptions,
): Promise<Map<string, LoadResult[]>> {
  const results = new Map(contenders.map(({ name }) => [name, [] as LoadResult[]]));
  const load = startLoad();
  try {
    process.stderr.write("  warming up\n");
    // Who asks for less than that wants to see whether it runs.
    if (seconds >= 0.25) for (const contender of contenders) await warmUp(load, contender);
    for (let round = 0; round < rounds; round++) {
      process.stderr.write(`  round ${round + 1} of ${rounds}\n`);
      for (let i = 0; i < contenders.length; i++) {
        const contender = contenders[(i + round) % contenders.length];
        if (contender !== undefined) {
          results.get(contender.name)?.push(await measure(load, contender, seconds));
        }
      }
    }
  } finally {
    load.close();
  }
  return results;
}

async function warmUp(load: Load, contender: Contender): Promise<void> {
  const wanted = contender.warmUpOperations ?? warmUpOperations;
  let operations = 0;
  for (let seconds = 0; operations < wanted && seconds < longestWarmUpSec; seconds += warmUpSec) {
    operations += (await measure(load, contender, warmUpSec)).operations;
  }
}

async function measure(load: Load, contender: Contender, seconds: number): Promise<LoadResult> {
  const { name, scenario, target, clients, pids } = contender;
  const charged = Object.entries(pids).filter(
    (entry): entry is [string, number | number[]] => entry[1] !== undefined,
  );
  try {
    return await load.run({ scenario, target, clients, seconds, pids: Object.fromEntries(charged) });
  } catch (error) {
    throw new Error(`"${name}" broke off`, { cause: error });
  }
}
