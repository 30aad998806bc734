import type { Statement } from "../db/statement.ts";
import type { Snapshot } from "./sqlite-snapshot.ts";

const mostAnswers = 10_000;

export interface Recall {
  recall<Params extends object, Row>(
    statement: Statement<Params, Row>,
    name: string,
    params: () => Params,
  ): Row | null;
  recallAll<Params extends object, Row>(
    statement: Statement<Params, Row>,
    name: string,
    params: () => Params,
  ): readonly Row[];
}

/** Remembers what was read until anyone, this process or another, has changed anything. */
export function createRecall(snapshot: Snapshot): Recall {
  const remembered = new Map<object, Map<string, unknown>>();
  let asOf = 0;
  let count = 0;

  function answersOf(statement: object): Map<string, unknown> {
    const revision = snapshot.revision();
    if (revision !== asOf || count >= mostAnswers) {
      for (const answers of remembered.values()) answers.clear();
      asOf = revision;
      count = 0;
    }
    let answers = remembered.get(statement);
    if (answers === undefined) {
      answers = new Map();
      remembered.set(statement, answers);
    }
    return answers;
  }

  return {
    recall<Params extends object, Row>(
      statement: Statement<Params, Row>,
      name: string,
      params: () => Params,
    ) {
      const answers = answersOf(statement);
      const known = answers.get(name);
      if (known !== undefined) return known as Row;
      const row = snapshot.open().get(statement, params());
      if (row !== null) {
        answers.set(name, row);
        count++;
      }
      return row;
    },
    recallAll<Params extends object, Row>(
      statement: Statement<Params, Row>,
      name: string,
      params: () => Params,
    ) {
      const answers = answersOf(statement);
      const known = answers.get(name);
      if (known !== undefined) return known as Row[];
      const rows = snapshot.open().all(statement, params());
      answers.set(name, rows);
      count++;
      return rows;
    },
  };
}
