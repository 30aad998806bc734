import type { ISql, Sql } from "postgres";
import type { Queryable } from "../database.ts";
import { createLanes } from "../lanes.ts";
import { codeOf, explain, queryable } from "./queries.ts";

type Work = (tx: Queryable) => Promise<unknown>;
type Outcome = PromiseSettledResult<unknown>;

const attemptsOnConflict = 5;
const mostTogether = () => 64;
const conflict = /^(40001|40P01)$/;

export interface Transactions {
  alone(work: Work): Promise<unknown>;
  together(lane: string, work: Work): Promise<unknown>;
}

/**
 * Everybody who uploads to a project changes the same few rows, and would wait for each other's commits, one fsync
 * after another. Work of one lane shares a transaction instead; when any of it fails, each is done on its own.
 */
export function createTransactions(client: Sql): Transactions {
  async function alone(work: Work): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await client.begin((tx) => work(queryable(tx)));
      } catch (error) {
        if (attempt < attemptsOnConflict && conflict.test(codeOf(error))) continue;
        throw explain(error);
      }
    }
  }

  async function asOne(works: Work[]): Promise<Outcome[] | null> {
    try {
      return await client.begin(async (tx: ISql) => {
        const shared = queryable(tx);
        const outcomes = await Promise.allSettled(works.map((work) => work(shared)));
        if (outcomes.some(({ status }) => status === "rejected")) throw new MemberFailed();
        return outcomes;
      });
    } catch (error) {
      // Anything else leaves open whether the transaction was committed: doing it again could do it twice.
      if (error instanceof MemberFailed || conflict.test(codeOf(error))) return null;
      throw explain(error);
    }
  }

  const inLane = createLanes<Work, Outcome>(async (works) => {
    const outcomes = works.length > 1 ? await asOne(works) : null;
    return outcomes ?? Promise.allSettled(works.map(alone));
  }, mostTogether);

  return {
    alone,
    async together(lane, work) {
      const outcome = await inLane(lane, work);
      if (outcome.status === "rejected") throw outcome.reason;
      return outcome.value;
    },
  };
}

class MemberFailed extends Error {}
