import { statfs } from "node:fs/promises";
import { StorageFull } from "../../ports/object-store.ts";
import { explainDiskError } from "./disk-errors.ts";

export interface FreeSpace {
  /** Throws `StorageFull` unless this many more bytes would still leave the floor free. */
  ensure(sizeBytes: number): Promise<void> | void;
}

const freshForMs = 1000;

/** The floor keeps room for the database, whose commits must go on when uploads no longer can. */
export function createFreeSpace(path: string, floorBytes: number): FreeSpace {
  let measuredAt = Number.NEGATIVE_INFINITY;
  let freeBytes: number | Promise<number> = 0;

  async function measure(): Promise<number> {
    try {
      const disk = await statfs(path);
      freeBytes = disk.bavail * disk.bsize;
      return freeBytes;
    } catch (error) {
      throw explainDiskError(error);
    }
  }

  function check(free: number, sizeBytes: number): void {
    if (free - sizeBytes < floorBytes)
      throw new StorageFull("too little space is left on the disk that holds the objects");
  }

  return {
    ensure(sizeBytes) {
      const now = performance.now();
      if (now - measuredAt > freshForMs) {
        measuredAt = now;
        freeBytes = measure();
      }
      if (typeof freeBytes === "number") return check(freeBytes, sizeBytes);
      return freeBytes.then((free) => check(free, sizeBytes));
    },
  };
}
