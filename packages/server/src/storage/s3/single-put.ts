import { type ObjectStore, StorageUnavailable, type StoredObject } from "../object-store.ts";
import type { AccessProbe } from "./access-probe.ts";
import { type CopyObject, copyDeadlineOf } from "./copy-object.ts";
import type { ObjectNames } from "./location.ts";
import type { ObjectHead, ObjectHeaders } from "./object-calls.ts";
import { type RetryPolicy, withDeadline, withRetries } from "./s3-call.ts";
import type { S3Client } from "./s3-client.ts";

export interface SinglePutDeps {
  client: S3Client;
  names: ObjectNames;
  probe: AccessProbe;
  copy: CopyObject;
  retry: RetryPolicy;
  headersOf: (contentType: string) => ObjectHeaders;
  /** For everything but the copy itself. */
  finishDeadlineMs: number;
}

const maxRounds = 10;

export function toStored({ sizeBytes, etag }: { sizeBytes: number; etag: string }): StoredObject {
  return { sizeBytes, etag, sha256: null };
}

/**
 * Copies what was staged to its final name. The copy is tied to the etag that was seen, so a PUT in between cannot
 * slip in, and to a final name that is free, so one that comes later changes nothing. It goes on when the client hangs
 * up: the next attempt joins it.
 */
export function createFinishPut(deps: SinglePutDeps): ObjectStore["finishPut"] {
  const { names, probe, copy, retry, headersOf, finishDeadlineMs } = deps;
  const running = new Map<string, Promise<StoredObject | null>>();
  const findHead = ({ objects }: S3Client, key: string) => probe.nullIfForbidden(() => objects.findHead(key));

  const finish = (key: string, sizeBytes: number) =>
    withDeadline(finishDeadlineMs + copyDeadlineOf(sizeBytes), (signal) =>
      finishWithin(signal, key, sizeBytes),
    );

  async function finishWithin(
    signal: AbortSignal,
    key: string,
    sizeBytes: number,
  ): Promise<StoredObject | null> {
    const client = deps.client.within(signal);
    for (let round = 0; round < maxRounds; round++) {
      const outcome = await withRetries(retry, signal, () => finishOnce(client, key, sizeBytes));
      if (outcome !== "conflict") return outcome;
    }
    throw new StorageUnavailable("the staged object changed each time it was looked at");
  }

  async function finishOnce(
    client: S3Client,
    key: string,
    sizeBytes: number,
  ): Promise<StoredObject | null | "conflict"> {
    // In this order: what is copied was there before the final name was seen to be free. The other way round, a
    // second completion that was held up could carry a later PUT over the bytes that the first one confirmed.
    const staged = await findHead(client, names.stagedOf(key));
    const final = await findHead(client, names.finalOf(key));
    const arrived = final ?? staged;
    if (arrived === null) {
      await probe.confirmMissing(names.stagedOf(key));
      return null;
    }
    // The PUT's URL signs the length, so only a bucket that does not check it, or lies, has another one.
    if (arrived.sizeBytes !== sizeBytes) return null;
    const object = final === null ? await makeFinal(client, key, arrived) : final;
    if (object === "conflict") return object;
    // Its time has passed whether or not this works: what stays is swept.
    if (staged !== null) await client.objects.remove(names.stagedOf(key)).catch(() => {});
    return toStored(object);
  }

  async function makeFinal(client: S3Client, key: string, staged: ObjectHead) {
    const { sizeBytes, etag, contentType } = staged;
    const copied = await copy(client, {
      fromKey: names.stagedOf(key),
      toKey: names.finalOf(key),
      sizeBytes,
      etag,
      ...headersOf(contentType),
    });
    return copied === "conflict" ? copied : { sizeBytes, etag: copied.etag };
  }

  return (key, sizeBytes) => {
    const joined = running.get(key) ?? finish(key, sizeBytes).finally(() => running.delete(key));
    running.set(key, joined);
    return joined;
  };
}
