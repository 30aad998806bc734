import type { IncomingMessage } from "node:http";
import { bodyCutOff } from "../../errors.ts";
import type { BodyWriter } from "./body-writer.ts";
import type { RateWatch, WatchedBody } from "./rate-watch.ts";
import { bodyTooSlow } from "./refusals.ts";

/** Moves the body into the writer, never faster than the disk takes it. Rejects unless all of it arrived. */
export async function receiveBody(
  request: IncomingMessage,
  writer: Pick<BodyWriter, "push">,
  rate: RateWatch,
): Promise<void> {
  const body: WatchedBody = { receivedBytes: 0, heldUp: false };
  const { promise, resolve, reject } = Promise.withResolvers<void>();

  const onData = (chunk: Buffer): void => {
    body.receivedBytes += chunk.length;
    const room = writer.push(chunk);
    if (room === null) return;
    body.heldUp = true;
    request.pause();
    room.then(() => {
      body.heldUp = false;
      request.resume();
    }, reject);
  };
  const onCutOff = (): void => {
    // A body that has ended closes too.
    if (!request.complete || !request.readableEnded) reject(bodyCutOff());
  };

  const unwatch = rate.watch(body, () => reject(bodyTooSlow()));
  // They stay: nothing else comes, and a connection that breaks later must not bring the process down.
  request.on("data", onData).on("end", resolve).on("error", onCutOff).on("close", onCutOff);
  if (request.destroyed) onCutOff();
  try {
    await promise;
  } catch (error) {
    request.off("data", onData);
    throw error;
  } finally {
    unwatch();
  }
}
