import type { Installation, Server } from "./installation.ts";
import type { Random } from "./random.ts";
import { runClients, Violation, waitForMoment } from "./scenario.ts";

export interface KilledWork<Item> {
  installation: Installation;
  random: Random;
  clients: number;
  violations: string[];
  /** How many requests were answered so far. */
  answers(): number;
  open(): Promise<Item>;
  finish(item: Item): Promise<void>;
  /** What a client does between two items. */
  between?(): Promise<void>;
}

/** Clients whose server is killed while they work. The next round resumes what the kill interrupted. */
export function createKilledWork<Item>(work: KilledWork<Item>) {
  const { installation, random, violations } = work;
  let interrupted: Item[] = [];
  let resumed = 0;

  async function finishOne(item: Item): Promise<void> {
    try {
      await work.finish(item);
    } catch (error) {
      if (!(error instanceof Violation)) interrupted.push(item);
      throw error;
    }
  }

  const actAsClient = (server: Server, rest: Item[]) => async () => {
    while (!server.isKilled()) {
      const left = rest.pop();
      if (left !== undefined) resumed++;
      await finishOne(left ?? (await work.open()));
      await work.between?.();
    }
  };

  return {
    /** Clients start with what the last round left, so kills interrupt recovery as well. */
    async runRound(): Promise<void> {
      const server = await installation.start();
      const rest = interrupted;
      interrupted = [];
      const acts = Array.from({ length: work.clients }, () => actAsClient(server, rest));
      const working = runClients(server, acts, violations);
      await waitForMoment(random, work.answers);
      await server.kill();
      await working;
      interrupted.push(...rest);
    },

    /** Finishes what is left. Without a kill, each must succeed. */
    resumeAll(): (() => Promise<void>)[] {
      const rest = interrupted;
      interrupted = [];
      resumed += rest.length;
      return rest.map((item) => () => finishOne(item));
    },

    resumed: () => resumed,
  };
}
