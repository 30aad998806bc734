import { Readable } from "node:stream";
import { STREAMS_PER_ACCOUNT_MAX, STREAMS_PER_KEY_MAX } from "@upstow/contract";
import { type Alarm, createAlarm } from "./alarm.ts";

/** A client that reads nothing must not delay the shutdown. */
const patienceMs = 2_000;

/** The owner of a stream: a key or a session, and its account. */
export interface StreamOwner {
  keyId: string;
  accountId: string;
}

interface OpenStream extends StreamOwner {
  alarm: Alarm;
  stop: AbortController;
  stream: Readable;
}

export type CreateEvents = (alarm: Alarm, signal: AbortSignal) => AsyncGenerator<string>;

/** The event streams of this instance. */
export interface OpenStreams {
  /** Null if the key or the account has reached its limit. */
  open(owner: StreamOwner, createEvents: CreateEvents): Readable | null;
  ringAll(): void;
  closeAll(): Promise<void>;
}

export function createOpenStreams(): OpenStreams {
  const streams = new Set<OpenStream>();
  return {
    open({ keyId, accountId }, createEvents) {
      const ofAccount = [...streams].filter((stream) => stream.accountId === accountId);
      const ofKey = ofAccount.filter((stream) => stream.keyId === keyId);
      if (ofKey.length >= STREAMS_PER_KEY_MAX || ofAccount.length >= STREAMS_PER_ACCOUNT_MAX) return null;
      const alarm = createAlarm();
      const stop = new AbortController();
      stop.signal.addEventListener("abort", alarm.ring);
      const stream = Readable.from(createEvents(alarm, stop.signal), { objectMode: false });
      const opened = { keyId, accountId, alarm, stop, stream };
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
