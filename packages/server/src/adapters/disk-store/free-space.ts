import { statfs } from "node:fs/promises";
import { StorageFull } from "../../ports/object-store.ts";
import { explainDiskError } from "./disk-errors.ts";

export interface FreeSpace {
  /** Throws `StorageFull` unless this many more bytes would still leave the floor free. */
  ensure(sizeBytes: number): Promise<void>;
}

const freshForMs = 1000;

/** The floor keeps room for the database, whose commits must go on when uploads no longer can. */
export function createFreeSpace(path: string, floorBytes: number): FreeSpace {
  let measuredAt = Number.NEGATIVE_INFINITY;
  let measurement: Promise<number> = Promise.resolve(0);

  return {
    async ensure(sizeBytes) {
      const now = performance.now();
      if (now - measuredAt > freshForMs) {
        measuredAt = now;
        measurement = statfs(path).then(
          (disk) => disk.bavail * disk.bsize,
          (error) => {
            throw explainDiskError(error);
          },
        );
      }
      if ((await measurement) - sizeBytes < floorBytes) {
        throw new StorageFull("too little space is left on the disk that holds the objects");
      }
    },
  };
}
