import type { Database } from "../db/database.ts";
import type { Connection } from "./sqlite-connection.ts";
import type { Snapshot } from "./sqlite-snapshot.ts";

const mostAnswers = 10_000;

type Read = (connection: Connection, statement: never, params: never) => unknown;

/** Remembers what was read until anyone, this process or another, has changed anything. */
export function createRecall(snapshot: Snapshot): Pick<Database, "recall" | "recallAll"> {
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

  const recallBy = (read: Read) => (statement: object, name: string, params: () => object) => {
    const answers = answersOf(statement);
    const known = answers.get(name);
    if (known !== undefined) return known;
    const answer = read(snapshot.open(), statement as never, params() as never);
    if (answer !== null) {
      answers.set(name, answer);
      count++;
    }
    return answer;
  };

  return {
    recall: recallBy((connection, statement, params) =>
      connection.get(statement, params),
    ) as Database["recall"],
    recallAll: recallBy((connection, statement, params) =>
      connection.all(statement, params),
    ) as Database["recallAll"],
  };
}
