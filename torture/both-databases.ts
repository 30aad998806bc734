import type { DatabaseKind } from "../packages/server/test/support/start-app.ts";
import { type Outcome, type RunOptions, type Scenario, sumUp } from "./scenario.ts";

/** Half of the rounds on the embedded database, half on PostgreSQL; says how many there were on each. */
export function onBothDatabases(
  unit: string,
  run: (options: RunOptions, database: DatabaseKind) => Promise<Outcome>,
): Scenario {
  return async (options) => {
    const onSqlite = Math.ceil(options.rounds / 2);
    const halves: [DatabaseKind, number][] = [
      ["sqlite", onSqlite],
      ["postgres", options.rounds - onSqlite],
    ];
    const none = Object.fromEntries(halves.map(([database]) => [`${unit} on ${database}`, 0]));
    const outcomes: Outcome[] = [{ counts: none, violations: [] }];
    for (const [database, rounds] of halves) {
      if (rounds === 0 || options.isTimeUp()) continue;
      const earlier = outcomes.map(({ counts }) => counts);
      let done = 0;
      const withRounds = (counts: Record<string, number>) => ({
        [`${unit} on ${database}`]: done,
        ...counts,
      });
      const onRound = (_round: number, counts: Record<string, number>) => {
        done++;
        options.onRound(done, sumUp([...earlier, withRounds(counts)]));
      };
      const { counts, violations } = await run({ ...options, rounds, onRound }, database);
      outcomes.push({
        counts: withRounds(counts),
        violations: violations.map((violation) => `on ${database}: ${violation}`),
      });
    }
    return {
      counts: sumUp(outcomes.map(({ counts }) => counts)),
      violations: outcomes.flatMap(({ violations }) => violations),
    };
  };
}
