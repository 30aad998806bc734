import { type ObjectStore, StorageUnavailable, type StoredObject } from "../../ports/object-store.ts";
import type { AccessProbe } from "./access-probe.ts";
import type { CopyObject } from "./copy-object.ts";
import type { ObjectHead, ObjectHeaders } from "./object-calls.ts";
import type { ObjectNames } from "./object-names.ts";
import { type RetryPolicy, withRetries } from "./retry.ts";
import type { S3Client } from "./s3-client.ts";

export interface SinglePutDeps {
  client: S3Client;
  names: ObjectNames;
  probe: AccessProbe;
  copy: CopyObject;
  retry: RetryPolicy;
  headersOf: (contentType: string) => ObjectHeaders;
}

const maxRounds = 10;

export function toStored({ sizeBytes, etag }: { sizeBytes: number; etag: string }): StoredObject {
  return { sizeBytes, etag, sha256: null };
}

/**
 * Copies what was staged to its final name. The copy is tied to the etag that was seen, so a PUT in between cannot
 * slip in, and to a final name that is free, so one that comes later changes nothing.
 */
export function createFinishPut(deps: SinglePutDeps): ObjectStore["finishPut"] {
  const { client, names, probe, copy, retry, headersOf } = deps;
  const running = new Map<string, Promise<StoredObject | null>>();
  const findHead = (key: string) => probe.nullIfForbidden(() => client.objects.findHead(key));

  async function finish(key: string): Promise<StoredObject | null> {
    for (let round = 0; round < maxRounds; round++) {
      const outcome = await withRetries(retry, undefined, () => finishOnce(key));
      if (outcome !== "conflict") return outcome;
    }
    throw new StorageUnavailable("the staged object changed each time it was looked at");
  }

  async function finishOnce(key: string): Promise<StoredObject | null | "conflict"> {
    // In this order: what is copied was there before the final name was seen to be free. The other way round, a
    // second completion that was held up could carry a later PUT over the bytes that the first one confirmed.
    const staged = await findHead(names.stagedOf(key));
    const final = await findHead(names.finalOf(key));
    if (final === null && staged === null) {
      await probe.confirmMissing(names.stagedOf(key));
      return null;
    }
    const object = final === null && staged !== null ? await makeFinal(key, staged) : final;
    if (object === "conflict" || object === null) return "conflict";
    // Its time has passed whether or not this works: what stays is swept.
    if (staged !== null) await client.objects.remove(names.stagedOf(key)).catch(() => {});
    return toStored(object);
  }

  async function makeFinal(key: string, staged: ObjectHead) {
    const { sizeBytes, etag, contentType } = staged;
    const copied = await copy({
      fromKey: names.stagedOf(key),
      toKey: names.finalOf(key),
      sizeBytes,
      etag,
      ...headersOf(contentType),
    });
    return copied === "conflict" ? copied : { sizeBytes, etag: copied.etag };
  }

  return (key) => {
    const joined = running.get(key) ?? finish(key).finally(() => running.delete(key));
    running.set(key, joined);
    return joined;
  };
}
