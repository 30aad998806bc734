import { type Connection, guardEngine } from "./connection.ts";

export interface Snapshot {
  /** A connection that sees only what is durable. */
  open(): Connection;
  /** Another number once another process has changed anything; never that of a change which `open` does not show yet. */
  revision(): number;
  end(): void;
}

/**
 * What is read in one turn of the event loop is read from one snapshot: taking and leaving the file's locks costs as
 * much as reading a row. The writer's own cache is warm where another connection would have to read every page again
 * that a commit has touched; while it holds a transaction, its changes are not for others.
 */
export function createSnapshot(writer: Connection, reader: Connection): Snapshot {
  const dataVersion = writer.database.prepare("PRAGMA data_version");
  dataVersion.setReturnArrays(true);
  let isOpen = false;
  let isPlanned = false;
  let revision: number | null = null;

  function end(): void {
    revision = null;
    if (!isOpen) return;
    isOpen = false;
    try {
      writer.steps.commit.run();
    } catch {
      // A read that failed has ended it, or left it to be undone; nothing of it is to be kept.
      if (writer.database.isTransaction) writer.database.exec("ROLLBACK");
    }
  }

  function endAfterThisTurn(): void {
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      end();
    });
  }

  function findRevision(): number {
    if (revision === null) {
      [revision] = guardEngine(() => dataVersion.get() as unknown as [number]);
      endAfterThisTurn();
    }
    return revision;
  }

  return {
    open() {
      if (isOpen) return writer;
      if (writer.database.isTransaction) return reader;
      // Looked at later, it could be that of a change which another process made after what is read here.
      findRevision();
      writer.steps.beginReading.run();
      isOpen = true;
      endAfterThisTurn();
      return writer;
    },
    revision: findRevision,
    end,
  };
}
