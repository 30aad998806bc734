import { statfs } from "node:fs/promises";
import { type AppError, StorageFull } from "../../kernel/errors.ts";
import { explainDiskError } from "./damage.ts";
import type { UploadTarget } from "./presigned-url.ts";
import { replacedByNewer, tooManyBytes, uploadBusy } from "./refusals.ts";

/** Tracks what will still need disk space. */
export interface ExpectedBytes {
  sizeBytes: number;
  receivedBytes: number;
}

export interface FreeSpace {
  /**
   * Throws `StorageFull` unless these bytes fit in addition to the floor and everything admitted but not yet received.
   * They stay reserved until `release`.
   */
  admit(expected: ExpectedBytes): Promise<void> | void;
  release(expected: ExpectedBytes): void;
  /** Throws `StorageFull` once less than the floor is free, whatever was admitted. */
  checkFloor(): Promise<void>;
}

const freshForMs = 1000;
/** Before rejecting, measure again: a body that just failed has released its space. */
const freshForRefusalMs = 50;

/** The floor leaves room for the database, whose commits must continue when uploads no longer can. */
export function createFreeSpace(path: string, floorBytes: number): FreeSpace {
  const admitted = new Set<ExpectedBytes>();
  let measuredAt = Number.NEGATIVE_INFINITY;
  let freeBytes: number | Promise<number> = 0;
  /** The reserved part of `freeBytes`. Grows until the next measurement, which includes what was written by then. */
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
  return new StorageFull("too little space is left on the disk with the objects");
}

/** A body being written to disk. */
export interface Arrival {
  readonly sizeBytes: number;
  receivedBytes: number;
  /** True while we, not the client, delay the body. */
  heldUp: boolean;
  movedAt: number;
  /** Ends the body early. Null before it is read and once all of it has arrived. */
  stop: ((reason: AppError) => void) | null;
  /** Frees the slot, unless a newer body has it by now. */
  leave(): void;
}

export interface Arrivals {
  /** Throws 409 while another body has the slot. */
  enter(target: UploadTarget, sizeBytes: number): Arrival;
}

/**
 * One body at a time per upload or part: otherwise a single URL could write any number of copies to disk. A client
 * whose connection broke unnoticed gets through again once the old body has stalled for `takeOverAfterMs`.
 */
export function createArrivals(takeOverAfterMs: number): Arrivals {
  const places = new Map<string, Arrival>();
  /** Declared bytes of the parts being received, by upload. */
  const partBytes = new Map<string, number>();

  function vacate(place: string): void {
    const current = places.get(place);
    if (current === undefined) return;
    const isSilent = !current.heldUp && performance.now() - current.movedAt >= takeOverAfterMs;
    if (!isSilent || current.stop === null) throw uploadBusy();
    current.stop(replacedByNewer());
    current.leave();
  }

  function countParts(uploadId: string, addedBytes: number): void {
    const bytes = (partBytes.get(uploadId) ?? 0) + addedBytes;
    if (bytes > 0) partBytes.set(uploadId, bytes);
    else partBytes.delete(uploadId);
  }

  return {
    enter(target, sizeBytes) {
      const isPart = target.kind === "part";
      const place = isPart ? `${target.uploadId}#${target.partNumber}` : target.key;
      vacate(place);
      if (isPart) {
        // The parts of a file are never larger than the file, so no honest client sends more at once.
        if ((partBytes.get(target.uploadId) ?? 0) + sizeBytes > target.maxBytes) throw tooManyBytes();
        countParts(target.uploadId, sizeBytes);
      }
      const arrival: Arrival = {
        sizeBytes,
        receivedBytes: 0,
        heldUp: false,
        movedAt: 0,
        stop: null,
        leave() {
          if (places.get(place) !== arrival) return;
          places.delete(place);
          if (isPart) countParts(target.uploadId, -sizeBytes);
        },
      };
      places.set(place, arrival);
      return arrival;
    },
  };
}
