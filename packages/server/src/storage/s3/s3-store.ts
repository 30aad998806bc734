import { BUCKET_PUT_MAX_BYTES } from "@upstow/contract";
import { randomText } from "../../kernel/ids.ts";
import {
  type DirectReads,
  type ObjectStore,
  StorageUnavailable,
  type StoredObject,
} from "../object-store.ts";
import { type BucketExamination, createAccessProbe, examineBucket } from "./access-probe.ts";
import { createBucketAppends } from "./appends.ts";
import { copyDeadlineOf, createCopyObject } from "./copy-object.ts";
import { letsBrowsersUpload, openToBrowsers } from "./cors.ts";
import { createExchange } from "./exchange.ts";
import { createObjectImport, type ObjectImport } from "./import-objects.ts";
import { createLocation, createObjectNames } from "./location.ts";
import { createBucketMultipart } from "./multipart.ts";
import type { ObjectHeaders } from "./object-calls.ts";
import { createBucketReads } from "./reads.ts";
import { withDeadline } from "./s3-call.ts";
import { type BucketOptions, createS3Client, defaultRetry } from "./s3-client.ts";
import { isStatus } from "./s3-error.ts";
import { createFinishPut, toStored } from "./single-put.ts";
import {
  type BucketSweepOptions,
  type BucketSweepReport,
  createBucketInspect,
  createBucketInventory,
  sweepBucket,
} from "./upkeep.ts";

export interface S3StoreOptions extends BucketOptions {
  /** Recorded on every file. */
  name: string;
  /** Prefix of every object's name; ends with a slash or is empty. */
  prefix: string;
  /** The same bucket's endpoint for clients; null as for `endpoint`. */
  publicEndpoint: string | null;
  /** The content type to send and its disposition, for clients that read the bucket directly. */
  headersOf: (contentType: string) => ObjectHeaders;
  /** Larger staged objects are finalised in pieces of this size. */
  copyPieceBytes?: number;
  /** How long a reader waits for the next byte. */
  readIdleMs?: number;
  /** How long a probe, or checking what has arrived, may take. */
  probeDeadlineMs?: number;
  /** How long finalising an upload may take, not counting the copy. */
  finishDeadlineMs?: number;
}

/** Objects in an S3-compatible bucket. Stateless, so any number of instances can share it. */
export interface S3Store extends ObjectStore {
  readonly directReads: DirectReads;
  /** Writes, reads and removes an object; throws if one of them is not allowed. */
  probe(): Promise<void>;
  /** Tries everything the service needs from the bucket, and compares clocks. Stops early with the signal. */
  examine(signal?: AbortSignal): Promise<BucketExamination>;
  sweep(options: BucketSweepOptions): Promise<BucketSweepReport>;
  /** For objects imported from another store. */
  imports: ObjectImport;
  /** Whether browsers may upload from any page and read the etag; tried with a small object. */
  allowsBrowsers(signal?: AbortSignal): Promise<boolean>;
  /** Adds what browsers need to the bucket's CORS rules. */
  allowBrowsers(): Promise<void>;
}

const defaultPieceBytes = 512 * 1024 * 1024;
const checkDeadlineMs = 3000;
const defaultReadIdleMs = 60_000;
const defaultProbeDeadlineMs = 60_000;
const defaultFinishDeadlineMs = 5 * 60_000;
/** Less than the lease of a deletion in the queue. */
const deleteDeadlineMs = 45_000;

export function createS3Store(options: S3StoreOptions): S3Store {
  const client = createS3Client(options);
  const names = createObjectNames(options.prefix);
  const { headersOf, readIdleMs = defaultReadIdleMs, finishDeadlineMs = defaultFinishDeadlineMs } = options;
  const probeDeadlineMs = options.probeDeadlineMs ?? defaultProbeDeadlineMs;
  const probe = createAccessProbe(client, names, probeDeadlineMs);
  const { signer } = client;
  const shared = { client, names, probe, headersOf, readIdleMs, findDeadlineMs: probeDeadlineMs };
  const reads = createBucketReads(shared);
  const untilProbed = (signal?: AbortSignal) =>
    AbortSignal.any([AbortSignal.timeout(probeDeadlineMs), ...(signal === undefined ? [] : [signal])]);
  const publicLocation = createLocation({ ...options, endpoint: options.publicEndpoint });
  const { origin, host } = publicLocation;
  const location = createLocation(options);
  const guardHeader = location.host.endsWith(".r2.cloudflarestorage.com")
    ? "cf-copy-destination-if-none-match"
    : "if-none-match";
  const copy = createCopyObject({
    pieceBytes: options.copyPieceBytes ?? defaultPieceBytes,
    guardHeader,
  });

  async function copyFinal(fromKey: string, toKey: string): Promise<StoredObject | null> {
    const [fromName, toName] = [names.finalOf(fromKey), names.finalOf(toKey)];
    const source = await client.objects.findHead(fromName);
    if (source === null) return null;
    const { sizeBytes, etag, contentType } = source;
    const deadlineMs = finishDeadlineMs + copyDeadlineOf(sizeBytes);
    return withDeadline(deadlineMs, async (signal) => {
      const within = client.within(signal);
      const wanted = { fromKey: fromName, toKey: toName, sizeBytes, etag, ...headersOf(contentType) };
      const copied = await copy(within, wanted);
      if (copied !== "conflict") return toStored({ sizeBytes, etag: copied.etag });
      const earlier = await within.objects.findHead(toName);
      if (earlier?.sizeBytes === sizeBytes) return toStored(earlier);
      throw new StorageUnavailable("an object could not be copied to its final place");
    });
  }

  const multipart = createBucketMultipart(shared, finishDeadlineMs);

  return {
    name: options.name,
    maxPutBytes: BUCKET_PUT_MAX_BYTES,
    ...reads,
    ...createBucketInspect(reads),
    inventory: createBucketInventory(client.bucket, names),
    ...multipart,
    finishPut: createFinishPut({ ...shared, copy, retry: options.retry ?? defaultRetry, finishDeadlineMs }),

    async presignPut({ key, contentType, sizeBytes, expiresInSec }) {
      const path = publicLocation.pathOf(names.stagedOf(key));
      const headers = { host, "content-type": contentType, "content-length": String(sizeBytes) };
      return signer.presign({ method: "PUT", origin, path, headers, expiresInSec });
    },

    async presignParts({ key, uploadId, partNumbers, expiresInSec }) {
      const path = publicLocation.pathOf(names.finalOf(key));
      return signer.presignParts({ origin, path, headers: { host }, expiresInSec }, uploadId, partNumbers);
    },

    copies: { copy: copyFinal },
    appends: createBucketAppends(shared, multipart),

    directReads: {
      presignGet(key, { expiresInSec, contentType, contentDisposition }) {
        const path = publicLocation.pathOf(names.finalOf(key));
        const query = {
          "response-content-type": contentType,
          "response-content-disposition": contentDisposition,
        };
        return signer.presign({ method: "GET", origin, path, query, headers: { host }, expiresInSec });
      },
    },

    async write(key, bytes, { contentType }) {
      const { etag } = await client.objects.put(names.finalOf(key), bytes, headersOf(contentType));
      return toStored({ sizeBytes: bytes.byteLength, etag });
    },

    async delete(keys) {
      const namesOf = (key: string) => [names.finalOf(key), names.stagedOf(key)];
      const refusals = await withDeadline(deleteDeadlineMs, (signal) =>
        client.within(signal).bucket.removeAll(keys.flatMap(namesOf)),
      );
      if (refusals.size === 0) return [];
      return keys.flatMap((key) => {
        const error = namesOf(key)
          .map((name) => refusals.get(name))
          .find((refusal) => refusal !== undefined);
        return error === undefined ? [] : [{ key, error }];
      });
    },

    async check() {
      try {
        await client.bucket.check(checkDeadlineMs);
      } catch (error) {
        // Checking the bucket requires permission to list it, which the service does not need.
        if (!isStatus(error, 403)) throw error;
        await probe.run();
      }
    },

    probe: () => probe.run(),
    examine: (signal) =>
      examineBucket(client, names, location, { ...options, guardHeader, signal: untilProbed(signal) }),
    imports: createObjectImport(shared),
    sweep: (sweepOptions) => sweepBucket(client, names, sweepOptions),
    async allowsBrowsers(signal) {
      const exchange = createExchange(origin, { lookup: options.lookup });
      const key = names.probePrefix + randomText(26);
      const headers = { host, "content-type": "text/plain", "content-length": "3" };
      const request = { method: "PUT", origin, path: publicLocation.pathOf(key), headers, expiresInSec: 60 };
      try {
        return await letsBrowsersUpload(exchange, signer.presign(request), untilProbed(signal));
      } finally {
        exchange.close();
        await client.objects.remove(key);
      }
    },
    allowBrowsers: () => openToBrowsers(client.cors),
    async close() {
      client.close();
    },
  };
}
