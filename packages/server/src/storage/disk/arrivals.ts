import type { AppError } from "../../kernel/errors.ts";
import type { UploadTarget } from "./presigned-url.ts";
import { replacedByNewer, tooManyBytes, uploadBusy } from "./refusals.ts";

/** A body on its way to the disk. */
export interface Arrival {
  readonly sizeBytes: number;
  receivedBytes: number;
  /** True while we, not the client, hold the body up. */
  heldUp: boolean;
  movedAt: number;
  /** Ends the body early. Null before it is read and once all of it has arrived. */
  stop: ((reason: AppError) => void) | null;
  /** Frees the place, unless a newer body has it by now. */
  leave(): void;
}

export interface Arrivals {
  /** Throws 409 while another body has the place. */
  enter(target: UploadTarget, sizeBytes: number): Arrival;
}

/**
 * One body at a time per upload, or per part of one: otherwise a single URL could put any number of copies on the
 * disk. A client that lost its connection without our noticing gets through again once the old body has been silent
 * for `takeOverAfterMs`.
 */
export function createArrivals(takeOverAfterMs: number): Arrivals {
  const places = new Map<string, Arrival>();
  /** Announced by the parts that are on their way, by upload. */
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
        // The parts of a file are never larger than the file, so no honest client has more under way.
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
