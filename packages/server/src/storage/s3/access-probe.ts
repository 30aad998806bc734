import { randomText } from "../../kernel/ids.ts";
import { StorageUnavailable } from "../object-store.ts";
import { readBody } from "./exchange.ts";
import type { ObjectCalls } from "./object-calls.ts";
import type { ObjectNames } from "./object-names.ts";
import type { S3Client } from "./s3-client.ts";
import { isMissing, isStatus, isUnknownCaller, quote } from "./s3-error.ts";
import { withDeadline } from "./with-deadline.ts";

export interface AccessProbe {
  /** Writes, reads and removes an object; throws when that does not work. */
  run(): Promise<void>;
  /**
   * A store whose keys may not list the bucket answers 403 for what is not there. So does one that lost its
   * rights: only a probe can tell, and a file must not look deleted because somebody edited a policy.
   */
  nullIfForbidden<T>(work: () => Promise<T>): Promise<T | null>;
  /**
   * Throws where it is not the object alone that is missing. The answer to a HEAD gives no reason, and no file must
   * look deleted or never sent because its bucket is gone or the key to it was changed.
   */
  confirmMissing(key: string): Promise<void>;
}

const trustMs = 5_000;

/** Throws where an object is not exactly this; reads no more of it than that takes. */
export async function expectText(objects: ObjectCalls, key: string, text: string, signal: AbortSignal) {
  const { head, stream } = await objects.get(key, { signal });
  if (head.sizeBytes === text.length) {
    const { text: found } = await readBody(stream, text.length, signal).catch((error) => {
      throw new StorageUnavailable(`the bucket cannot be read: ${quote(String(error))}`);
    });
    if (found === text) return;
  }
  stream.destroy();
  throw new StorageUnavailable("the bucket returns other bytes");
}

export function createAccessProbe(client: S3Client, names: ObjectNames, deadlineMs: number): AccessProbe {
  const { objects } = client;
  let trustedUntil = 0;

  const run = () => withDeadline(deadlineMs, tryObject);

  async function tryObject(deadline: AbortSignal): Promise<void> {
    const { objects } = client.within(deadline);
    const key = names.probePrefix + randomText(26);
    await objects.put(key, Buffer.from(key), { contentType: "text/plain" });
    try {
      await expectText(objects, key, key, deadline);
    } finally {
      await objects.remove(key);
    }
  }

  async function nullIfForbidden<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      if (!isStatus(error, 403) || isUnknownCaller(error)) throw error;
      if (performance.now() > trustedUntil) {
        await run();
        trustedUntil = performance.now() + trustMs;
      }
      return null;
    }
  }

  return {
    run,
    nullIfForbidden,
    async confirmMissing(key) {
      try {
        const found = await nullIfForbidden(() => objects.get(key, {}));
        found?.stream.destroy();
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
  };
}
