import type { IncomingMessage } from "node:http";
import { addAbortSignal, Readable } from "node:stream";
import { type ByteRange, type ObjectStore, type ReadOptions, StorageUnavailable } from "../object-store.ts";
import type { AccessProbe } from "./access-probe.ts";
import { readTime } from "./bucket-values.ts";
import type { ObjectNames } from "./location.ts";
import type { ObjectBody } from "./object-calls.ts";
import { withDeadline } from "./s3-call.ts";
import type { S3Client } from "./s3-client.ts";
import { isMissing, isStatus } from "./s3-error.ts";
import { toStored } from "./single-put.ts";

type Reads = Pick<ObjectStore, "head" | "read" | "findReceived">;

const maxReopens = 3;
// Less than the wait for a connection, so that stalled readers on all of them do not block others.
const pauseMs = 5_000;

export interface ReadsDeps {
  client: S3Client;
  names: ObjectNames;
  probe: AccessProbe;
  /** How long a reader waits for the next byte, across all connections tried. */
  readIdleMs: number;
  findDeadlineMs: number;
}

export function createBucketReads({ client, names, probe, readIdleMs, findDeadlineMs }: ReadsDeps): Reads {
  const { objects } = client;
  const findHead = (key: string, { objects: limited } = client) =>
    probe.nullIfForbidden(() => limited.findHead(key));

  async function findBody(key: string, options: ReadOptions): Promise<ObjectBody | null> {
    try {
      const body = await probe.nullIfForbidden(() => objects.get(key, { isDownload: true, ...options }));
      // Not every store supports If-Match.
      if (body === null || body.head.etag === (options.etag ?? body.head.etag)) return body;
      body.stream.destroy();
      return null;
    } catch (error) {
      if (isMissing(error) || (options.etag !== undefined && isStatus(error, 412))) return null;
      throw error;
    }
  }

  /** The parts of an open upload. */
  async function findParts({ bucket, multipart }: S3Client, key: string) {
    for await (const upload of bucket.listUploads(names.finalOf(key))) {
      if (upload.key !== names.finalOf(key)) continue;
      const parts = (await multipart.findParts(upload)) ?? [];
      if (parts.length === 0) continue;
      return {
        sizeBytes: parts.reduce((sum, part) => sum + part.sizeBytes, 0),
        receivedAt: Math.max(...parts.map((part) => part.receivedAt)),
      };
    }
    return null;
  }

  return {
    async head(key) {
      const name = names.finalOf(key);
      const head = await findHead(name);
      if (head === null) await probe.confirmMissing(name);
      return head && toStored(head);
    },

    async read(key, options = {}) {
      const { range, signal } = options;
      const body = await findBody(names.finalOf(key), options);
      if (body === null) return null;
      const { sizeBytes: lengthBytes, etag } = body.head;
      checkLength(body, range);
      const start = range?.start ?? 0;
      let place = { key, etag };
      const findRest = (rest: ByteRange) =>
        findBody(names.finalOf(place.key), { range: rest, etag: place.etag, signal });
      const stream = createObjectStream({
        first: body.stream,
        lengthBytes,
        reopen: async (skipBytes) => {
          const rest = { start: start + skipBytes, end: start + lengthBytes - 1 };
          let again = await findRest(rest);
          const moved = again === null ? await options.findMoved?.() : null;
          if (moved) {
            place = { key: moved.key, etag: moved.etag ?? etag };
            again = await findRest(rest);
          }
          if (again === null) throw new StorageUnavailable("the object was removed while it was read");
          checkLength(again, rest);
          return again.stream;
        },
        maxReopens,
        idleMs: readIdleMs / (maxReopens + 1),
        giveUpMs: readIdleMs,
        pauseMs,
      });
      return signal === undefined ? stream : addAbortSignal(signal, stream);
    },

    findReceived: (key) => withDeadline(findDeadlineMs, (signal) => findReceived(client.within(signal), key)),
  };

  async function findReceived(limited: S3Client, key: string) {
    const [staged, final] = [names.stagedOf(key), names.finalOf(key)];
    const head = (await findHead(staged, limited)) ?? (await findHead(final, limited));
    if (head !== null) return { sizeBytes: head.sizeBytes, receivedAt: readTime(head.lastModified) };
    // Without permission to list, nothing is known about parts.
    return probe.nullIfForbidden(() => findParts(limited, key));
  }
}

/** Don't trust a customer's bucket: it may have a different object by now, or not support ranges. */
function checkLength({ head, stream }: ObjectBody, range: ByteRange | undefined): void {
  if (range === undefined || head.sizeBytes === range.end - range.start + 1) return;
  stream.destroy();
  throw new StorageUnavailable("the bucket sent a different length than requested");
}

interface ObjectStreamOptions {
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
        return void stream.destroy(new Error("the store sent more bytes than requested"));
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
    const cause = source.errored ?? new Error("the store sent fewer bytes than announced");
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
