import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rmdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { randomText } from "../../kernel/ids.ts";
import { createFileName, shardOf } from "./blob-name.ts";
import { hasCode } from "./damage.ts";

export interface TempFile {
  name: string;
  file: FileHandle;
}

/** An object may have thousands of parts, and other callers need the disk as well. */
const removersAtOnce = 4;

export type BlobFiles = Awaited<ReturnType<typeof openBlobFiles>>;

/**
 * The files under the store's root: `tmp/<random>` while bytes arrive, then permanently `blobs/<shard>/<blob>`.
 * A blob counts only once the database references it; blobs without a record are swept.
 */
export async function openBlobFiles(root: string, now: () => number) {
  const tempRoot = join(root, "tmp");
  const blobRoot = join(root, "blobs");
  const syncDirectory = createDirectorySync();
  /** Temporary files and blobs in use by this process; the sweeper skips them. */
  const inUse = new Set<string>();
  const readers = createReaders();
  let shard: { name: string; ready: Promise<void> } | null = null;

  for (const path of [root, tempRoot, blobRoot]) await mkdir(path, { recursive: true, mode: 0o700 });
  await syncDirectory(root);

  const shardPath = (name: string) => join(blobRoot, name);
  const pathOf = (blob: string) => join(shardPath(shardOf(blob)), blob);

  /** A new directory is made durable before the first blob in it. */
  function prepareShard(name: string): Promise<void> {
    if (shard?.name !== name) {
      const ready = mkdir(shardPath(name), { recursive: true, mode: 0o700 }).then(() =>
        syncDirectory(blobRoot),
      );
      shard = { name, ready };
      ready.catch(() => {
        if (shard?.name === name) shard = null;
      });
    }
    return shard.ready;
  }

  return {
    root,
    inUse: inUse as ReadonlySet<string>,
    pathOf,

    async openTemp(): Promise<TempFile> {
      const name = randomText(26);
      inUse.add(name);
      try {
        const file = await open(
          join(tempRoot, name),
          constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
          0o600,
        );
        return { name, file };
      } catch (error) {
        inUse.delete(name);
        throw error;
      }
    },

    async discardTemp({ name, file }: TempFile): Promise<void> {
      await file.close().catch(() => {});
      await unlink(join(tempRoot, name)).catch(() => {});
      inUse.delete(name);
    },

    /**
     * Turns a temporary file into a durable blob and returns its name, which stays in use until `release`. After a
     * failed fsync the kernel drops the bytes and reports the next fsync as a success, so it is never retried.
     */
    async seal({ name, file }: TempFile): Promise<string> {
      await file.sync();
      await file.close();
      const blob = createFileName(now());
      await prepareShard(shardOf(blob));
      inUse.add(blob);
      try {
        await rename(join(tempRoot, name), pathOf(blob));
        await syncDirectory(shardPath(shardOf(blob)));
      } catch (error) {
        await unlink(pathOf(blob)).catch(() => {});
        inUse.delete(blob);
        throw error;
      }
      inUse.delete(name);
      return blob;
    },

    release(blob: string): void {
      inUse.delete(blob);
    },

    /** Keeps blobs that a reader has yet to open, even if they are removed meanwhile, until the returned function is called. */
    keepFor(blobs: string[]): () => void {
      readers.add(blobs);
      return () => {
        for (const blob of readers.leave(blobs)) void unlink(pathOf(blob)).catch(() => {});
      };
    },

    /** Files that cannot be removed now have no record any more, so a later sweep finds them. */
    async remove(blobs: string[]): Promise<void> {
      if (blobs.length === 0) return;
      const rest = blobs.values();
      const removeRest = async () => {
        for (const blob of rest) if (!readers.postpone(blob)) await unlink(pathOf(blob)).catch(() => {});
      };
      await Promise.all(Array.from({ length: removersAtOnce }, removeRest));
    },

    /** Distinguishes a lost blob from a missing disk. */
    async isMounted(): Promise<boolean> {
      return (await stat(join(root, "identity")).catch(() => null)) !== null;
    },

    listTemp: () => readdir(tempRoot),
    listShards: () => readdir(blobRoot),
    listShard: (name: string) =>
      readdir(shardPath(name)).catch((error) => {
        if (hasCode(error, "ENOENT")) return [];
        throw error;
      }),
    tempPath: (name: string) => join(tempRoot, name),
    removeShardIfEmpty: (name: string) => rmdir(shardPath(name)).catch(() => {}),
  };
}

/** Tracks pending readers of blobs, and which blobs to remove afterwards. */
function createReaders() {
  const counts = new Map<string, number>();
  const leaving = new Set<string>();
  return {
    add(blobs: string[]): void {
      for (const blob of blobs) counts.set(blob, (counts.get(blob) ?? 0) + 1);
    },
    /** Whether the removal has to wait for readers. */
    postpone(blob: string): boolean {
      if (!counts.has(blob)) return false;
      leaving.add(blob);
      return true;
    },
    /** Returns the blobs to remove now. */
    leave(blobs: string[]): string[] {
      const free: string[] = [];
      for (const blob of blobs) {
        const others = (counts.get(blob) ?? 1) - 1;
        if (others > 0) counts.set(blob, others);
        else {
          counts.delete(blob);
          if (leaving.delete(blob)) free.push(blob);
        }
      }
      return free;
    },
  };
}

type SyncDirectory = (path: string) => Promise<void>;

/**
 * Makes the names in a directory durable. A sync that starts after a rename covers it, so however many callers wait for
 * one directory, at most one sync is running and one more is pending.
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
