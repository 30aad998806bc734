import type { IncomingMessage } from "node:http";
import { bodyCutOff } from "../../kernel/errors.ts";
import type { Arrival } from "./arrivals.ts";
import type { BodyWriter } from "./body-writer.ts";
import type { RateWatch } from "./rate-watch.ts";
import { bodyTooSlow } from "./refusals.ts";

/** Moves the body into the writer, never faster than the disk takes it. Rejects unless all of it arrived. */
export async function receiveBody(
  request: IncomingMessage,
  writer: Pick<BodyWriter, "push">,
  rate: RateWatch,
  arrival: Arrival,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();

  const onData = (chunk: Buffer): void => {
    arrival.receivedBytes += chunk.length;
    arrival.movedAt = performance.now();
    const room = writer.push(chunk);
    if (room === null) return;
    arrival.heldUp = true;
    request.pause();
    room.then(() => {
      arrival.heldUp = false;
      arrival.movedAt = performance.now();
      request.resume();
    }, reject);
  };
  const onEnd = (): void => {
    arrival.stop = null;
    resolve();
  };
  const onCutOff = (): void => {
    // A body that has ended closes too.
    if (!request.complete || !request.readableEnded) reject(bodyCutOff());
  };

  const unwatch = rate.watch(arrival, () => reject(bodyTooSlow()));
  arrival.movedAt = performance.now();
  arrival.stop = reject;
  // They stay: nothing else comes, and a connection that breaks later must not bring the process down.
  request.on("data", onData).on("end", onEnd).on("error", onCutOff).on("close", onCutOff);
  if (request.destroyed) onCutOff();
  try {
    await promise;
  } catch (error) {
    request.off("data", onData);
    arrival.stop = null;
    // At once: the client may be trying again while we still clean up.
    arrival.leave();
    throw error;
  } finally {
    unwatch();
  }
}
