import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

export interface OpenedBody {
  stream: IncomingMessage;
  lengthBytes: number;
}

export interface ObjectStreamOptions {
  first: OpenedBody;
  /** Opens the rest, from this many bytes on. */
  reopen(skipBytes: number): Promise<OpenedBody>;
  /** How often a connection that broke is made up for. */
  maxReopens: number;
  /** How long the store may send nothing while somebody waits for it. */
  idleMs: number;
}

/** The bytes of an object as one stream, over as many connections as it takes. */
export function createObjectStream({ first, reopen, maxReopens, idleMs }: ObjectStreamOptions): Readable {
  const { lengthBytes } = first;
  let current: IncomingMessage | null = null;
  let receivedBytes = 0;
  let reopensLeft = maxReopens;
  const idle = setTimeout(() => current?.destroy(new Error("the store stopped sending")), idleMs);
  idle.unref();

  const stream = new Readable({
    read() {
      idle.refresh();
      current?.resume();
    },
    destroy(error, callback) {
      clearTimeout(idle);
      current?.destroy();
      callback(error);
    },
  });

  function attach(source: IncomingMessage): void {
    current = source;
    source.on("data", (chunk: Buffer) => {
      receivedBytes += chunk.length;
      idle.refresh();
      if (stream.push(chunk)) return;
      source.pause();
      // The client is slow, not the store.
      clearTimeout(idle);
    });
    source.once("close", () => void settle(source));
    // What went wrong shows as too few bytes when it closes.
    source.on("error", () => {});
    if (stream.destroyed) source.destroy();
  }

  async function settle(source: IncomingMessage): Promise<void> {
    if (stream.destroyed) return;
    if (receivedBytes === lengthBytes) {
      clearTimeout(idle);
      stream.push(null);
      return;
    }
    const cause = source.errored ?? new Error("the store sent fewer bytes than it said");
    if (receivedBytes > lengthBytes || reopensLeft-- === 0) return void stream.destroy(cause);
    try {
      attach((await reopen(receivedBytes)).stream);
    } catch (error) {
      stream.destroy(error as Error);
    }
  }

  attach(first.stream);
  return stream;
}
