import { type Connection, guardEngine } from "./connection.ts";

export interface Snapshot {
  /** A connection that sees only what is durable. */
  open(): Connection;
  /** Changes when another process has changed anything; never ahead of what `open` shows. */
  revision(): number;
  end(): void;
}

/**
 * All reads in one turn of the event loop use one snapshot, because taking and releasing the file's locks costs as much
 * as reading a row. The writer's own cache is warm, while another connection would have to re-read every page that a
 * commit has touched; but during a transaction its changes must not be visible to others.
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
      // A failed read has ended the transaction or left it to be rolled back; there is nothing to keep.
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
      // Read later, it could include a change that another process made after this snapshot.
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
