import { statfs } from "node:fs/promises";
import { StorageFull } from "../../kernel/errors.ts";
import { explainDiskError } from "./damage.ts";

/** What will still need room on the disk. */
export interface ExpectedBytes {
  sizeBytes: number;
  receivedBytes: number;
}

export interface FreeSpace {
  /**
   * Throws `StorageFull` unless these bytes fit beside the floor and all that was admitted before and is still to
   * come. They stay reserved until `release`.
   */
  admit(expected: ExpectedBytes): Promise<void> | void;
  release(expected: ExpectedBytes): void;
  /** Throws `StorageFull` once less than the floor is free, whatever was admitted. */
  checkFloor(): Promise<void>;
}

const freshForMs = 1000;
/** A refusal needs a newer measurement: a body that failed a moment ago has given its room back. */
const freshForRefusalMs = 50;

/** The floor keeps room for the database, whose commits must go on when uploads no longer can. */
export function createFreeSpace(path: string, floorBytes: number): FreeSpace {
  const admitted = new Set<ExpectedBytes>();
  let measuredAt = Number.NEGATIVE_INFINITY;
  let freeBytes: number | Promise<number> = 0;
  /** Of `freeBytes`, what is spoken for. Grows until the next measurement, which sees what was written by then. */
  let reservedBytes = 0;

  async function measure(): Promise<number> {
    try {
      const disk = await statfs(path);
      freeBytes = disk.bavail * disk.bsize;
      return freeBytes;
    } catch (error) {
      throw explainDiskError(error);
    }
  }

  function measureUnlessFresh(freshMs: number): void {
    const now = performance.now();
    if (now - measuredAt <= freshMs) return;
    measuredAt = now;
    reservedBytes = 0;
    for (const { sizeBytes, receivedBytes } of admitted) reservedBytes += sizeBytes - receivedBytes;
    freeBytes = measure();
  }

  function reserve(expected: ExpectedBytes, free: number): boolean {
    if (free - reservedBytes - expected.sizeBytes < floorBytes) return false;
    reservedBytes += expected.sizeBytes;
    admitted.add(expected);
    return true;
  }

  async function reserveOnceMeasured(expected: ExpectedBytes): Promise<void> {
    if (reserve(expected, await freeBytes)) return;
    measureUnlessFresh(freshForRefusalMs);
    if (!reserve(expected, await freeBytes)) throw tooFull();
  }

  return {
    admit(expected) {
      measureUnlessFresh(freshForMs);
      if (typeof freeBytes === "number" && reserve(expected, freeBytes)) return;
      return reserveOnceMeasured(expected);
    },
    release(expected) {
      admitted.delete(expected);
    },
    async checkFloor() {
      measureUnlessFresh(freshForMs);
      if ((await freeBytes) < floorBytes) throw tooFull();
    },
  };
}

function tooFull(): StorageFull {
  return new StorageFull("too little space is left on the disk that holds the objects");
}
