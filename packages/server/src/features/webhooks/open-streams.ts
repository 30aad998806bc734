import { Readable } from "node:stream";
import { type Alarm, createAlarm } from "./alarm.ts";

const streamsPerKey = 10;
/** A client that reads nothing must not hold up the shutdown. */
const patienceMs = 2_000;

interface OpenStream {
  keyId: string;
  alarm: Alarm;
  stop: AbortController;
  stream: Readable;
}

export type CreateEvents = (alarm: Alarm, signal: AbortSignal) => AsyncGenerator<string>;

/** The event streams of this instance. */
export interface OpenStreams {
  /** Null when the key has as many open as it may. */
  open(keyId: string, createEvents: CreateEvents): Readable | null;
  ringAll(): void;
  closeAll(): Promise<void>;
}

export function createOpenStreams(): OpenStreams {
  const streams = new Set<OpenStream>();
  return {
    open(keyId, createEvents) {
      const ofKey = [...streams].filter((stream) => stream.keyId === keyId);
      if (ofKey.length >= streamsPerKey) return null;
      const alarm = createAlarm();
      const stop = new AbortController();
      stop.signal.addEventListener("abort", alarm.ring);
      const stream = Readable.from(createEvents(alarm, stop.signal), { objectMode: false });
      const opened = { keyId, alarm, stop, stream };
      streams.add(opened);
      stream.once("close", () => {
        streams.delete(opened);
        stop.abort();
      });
      return stream;
    },
    ringAll() {
      for (const { alarm } of streams) alarm.ring();
    },
    async closeAll() {
      for (const { stop, stream } of streams) {
        stop.abort();
        setTimeout(() => stream.destroy(), patienceMs).unref();
      }
    },
  };
}
