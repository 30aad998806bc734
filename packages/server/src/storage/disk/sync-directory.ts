import { open } from "node:fs/promises";

export type SyncDirectory = (path: string) => Promise<void>;

/**
 * Makes the names in a directory durable. A sync that starts after my rename covers me, so however many callers
 * wait for one directory, at most one sync runs and one more is due.
 */
export function createDirectorySync(): SyncDirectory {
  const running = new Map<string, Promise<void>>();
  const due = new Map<string, Promise<void>>();

  const start = (path: string): Promise<void> => {
    const sync = fsyncDirectory(path).finally(() => running.delete(path));
    running.set(path, sync);
    return sync;
  };

  return (path) => {
    const current = running.get(path);
    if (current === undefined) return start(path);
    let next = due.get(path);
    if (next === undefined) {
      next = current
        .catch(() => {})
        .then(() => {
          due.delete(path);
          return start(path);
        });
      due.set(path, next);
    }
    return next;
  };
}

async function fsyncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
