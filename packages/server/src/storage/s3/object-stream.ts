import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

export interface ObjectStreamOptions {
  first: IncomingMessage;
  lengthBytes: number;
  /** Opens the rest, from this offset. */
  reopen(skipBytes: number): Promise<IncomingMessage>;
  /** How often a broken connection is replaced. */
  maxReopens: number;
  /** How long one connection may stall while a reader is waiting. */
  idleMs: number;
  /** The same for all connections tried in turn. */
  giveUpMs: number;
  /** How long a connection is kept for a stalled reader; after that, the rest is requested when they continue. */
  pauseMs: number;
}

/** The bytes of an object as one stream, over as many connections as it takes. */
export function createObjectStream(options: ObjectStreamOptions): Readable {
  const { lengthBytes, reopen, idleMs, giveUpMs, pauseMs } = options;
  /** Null while the reader is stalled and no connection is kept. */
  let current: IncomingMessage | null = options.first;
  let receivedBytes = 0;
  let reopensLeft = options.maxReopens;
  let timer: NodeJS.Timeout | undefined;
  let lastTimer: NodeJS.Timeout | undefined;

  const stopped = () => new Error("the store stopped sending");
  const disarm = () => clearTimeout(timer);
  const arm = () => {
    disarm();
    timer = setTimeout(() => current?.destroy(stopped()), idleMs);
  };
  const disarmLast = () => {
    clearTimeout(lastTimer);
    lastTimer = undefined;
  };
  // A new connection does not restart it.
  const armLast = () => {
    lastTimer ??= setTimeout(() => stream.destroy(stopped()), giveUpMs);
  };
  const letGo = () => {
    const source = current;
    current = null;
    source?.destroy();
    if (receivedBytes === lengthBytes) stream.push(null);
  };

  const stream = new Readable({
    read() {
      armLast();
      if (current === null) return void goOn();
      arm();
      current.resume();
    },
    destroy(error, callback) {
      disarm();
      disarmLast();
      current?.destroy();
      callback(error);
    },
  });

  function attach(source: IncomingMessage): void {
    current = source;
    arm();
    source.on("data", (chunk: Buffer) => {
      receivedBytes += chunk.length;
      disarmLast();
      // The length was already declared to a client, which must not receive more.
      if (receivedBytes > lengthBytes)
        return void stream.destroy(new Error("the store sent more bytes than it was asked for"));
      if (stream.push(chunk)) {
        armLast();
        return void arm();
      }
      // The reader is slow, not the store.
      source.pause();
      disarm();
      timer = setTimeout(letGo, pauseMs);
    });
    source.once("close", () => void settle(source));
    // A failure shows up as missing bytes when it closes.
    source.on("error", () => {});
    if (stream.destroyed) source.destroy();
  }

  async function settle(source: IncomingMessage): Promise<void> {
    if (source !== current) return;
    disarm();
    if (stream.destroyed) return;
    if (receivedBytes === lengthBytes) return void stream.push(null);
    const cause = source.errored ?? new Error("the store sent fewer bytes than it said");
    if (reopensLeft-- === 0) return void stream.destroy(cause);
    await goOn();
  }

  async function goOn(): Promise<void> {
    try {
      attach(await reopen(receivedBytes));
    } catch (error) {
      stream.destroy(error as Error);
    }
  }

  attach(options.first);
  return stream;
}
