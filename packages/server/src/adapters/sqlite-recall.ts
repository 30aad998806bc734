import type { Statement } from "../db/statement.ts";
import type { Snapshot } from "./sqlite-snapshot.ts";

const mostRows = 10_000;

export type Recall = <Params extends object, Row>(
  statement: Statement<Params, Row>,
  name: string,
  params: () => Params,
) => Row | null;

/** Remembers what was read until anyone, this process or another, has changed anything. */
export function createRecall(snapshot: Snapshot): Recall {
  const remembered = new Map<Statement<object, unknown>, Map<string, object>>();
  let asOf = 0;
  let count = 0;

  function rowsOf(statement: Statement<object, unknown>): Map<string, object> {
    let rows = remembered.get(statement);
    if (rows === undefined) {
      rows = new Map();
      remembered.set(statement, rows);
    }
    return rows;
  }

  return <Params extends object, Row>(
    statement: Statement<Params, Row>,
    name: string,
    params: () => Params,
  ) => {
    const revision = snapshot.revision();
    if (revision !== asOf || count >= mostRows) {
      for (const rows of remembered.values()) rows.clear();
      asOf = revision;
      count = 0;
    }
    const rows = rowsOf(statement);
    const known = rows.get(name);
    if (known !== undefined) return known as Row;
    const row = snapshot.open().get(statement, params());
    if (row !== null) {
      rows.set(name, row as object);
      count++;
    }
    return row;
  };
}
