import type { Readable } from "node:stream";
import { TRANSFER_IDLE_SEC, TRANSFER_MIN_BYTES_PER_SEC } from "@upstow/contract";
import type { Holder } from "./lease.ts";

/** A client that sends nothing for this long may be replaced by another. */
const silentMs = 2_000;
const lookEveryMs = 1_000;

export interface AppendBody extends Holder {
  chunks: AsyncIterable<Buffer>;
  /** How it ended. */
  outcome(): "whole" | "broken" | "too-long";
  receivedBytes(): number;
}

/**
 * The bytes of a stream up to `maxBytes`. One that breaks, or is interrupted, just ends, because what arrived is kept. A
 * sender below the minimum rate is cut.
 */
export function createBody(
  stream: Readable,
  maxBytes: number,
  onChunk: (chunk: Buffer) => void,
  idleMs = TRANSFER_IDLE_SEC * 1000,
): AppendBody {
  let received = 0;
  let movedAt = performance.now();
  let isWaiting = false;
  let isDone = false;
  let outcome: ReturnType<AppendBody["outcome"]> = "broken";
  let windowStart = { at: movedAt, bytes: 0 };

  const interrupt = () => {
    if (!isDone) stream.destroy();
  };

  function look(): void {
    const now = performance.now();
    // While we are busy, the client may have to wait.
    if (!isWaiting) windowStart = { at: now, bytes: received };
    if (now - windowStart.at < idleMs) return;
    const least = (TRANSFER_MIN_BYTES_PER_SEC * idleMs) / 1000;
    if (received - windowStart.bytes < least) interrupt();
    windowStart = { at: now, bytes: received };
  }

  async function* read(): AsyncGenerator<Buffer> {
    const looking = setInterval(look, Math.min(lookEveryMs, idleMs / 4)).unref();
    const source = stream.iterator({ destroyOnReturn: false });
    try {
      for (;;) {
        isWaiting = true;
        const { done, value } = await source.next();
        isWaiting = false;
        movedAt = performance.now();
        if (done) {
          outcome = "whole";
          return;
        }
        const chunk = value as Buffer;
        if (received + chunk.length > maxBytes) {
          outcome = "too-long";
          return;
        }
        received += chunk.length;
        onChunk(chunk);
        yield chunk;
      }
    } catch {
      outcome = "broken";
    } finally {
      isDone = true;
      isWaiting = false;
      clearInterval(looking);
    }
  }

  return {
    chunks: read(),
    outcome: () => outcome,
    receivedBytes: () => received,
    isMoving: () => !isWaiting || performance.now() - movedAt < silentMs,
    interrupt,
  };
}
