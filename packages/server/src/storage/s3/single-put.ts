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
  /** For everything except the copy itself. */
  finishDeadlineMs: number;
}

const maxRounds = 10;

export function toStored({ sizeBytes, etag }: { sizeBytes: number; etag: string }): StoredObject {
  return { sizeBytes, etag, sha256: null };
}

/**
 * Copies the staged object to its final name. The copy requires the etag that was read, so a PUT in between cannot slip
 * in, and a free final name, so a later one changes nothing. It continues if the client disconnects: the next attempt
 * joins it.
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
    throw new StorageUnavailable("the staged object changed every time it was read");
  }

  async function finishOnce(
    client: S3Client,
    key: string,
    sizeBytes: number,
  ): Promise<StoredObject | null | "conflict"> {
    // In this order: the copied object existed before the final name was seen to be free. The other way round, a
    // delayed second completion could overwrite the bytes that the first one confirmed with a later PUT.
    const staged = await findHead(client, names.stagedOf(key));
    const final = await findHead(client, names.finalOf(key));
    const arrived = final ?? staged;
    if (arrived === null) {
      await probe.confirmMissing(names.stagedOf(key));
      return null;
    }
    // The PUT's URL signs the length, so it differs only if a bucket does not check it, or lies.
    if (arrived.sizeBytes !== sizeBytes) return null;
    const object = final === null ? await makeFinal(client, key, arrived) : final;
    if (object === "conflict") return object;
    // It is no longer needed whether or not this works; leftovers are swept.
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
