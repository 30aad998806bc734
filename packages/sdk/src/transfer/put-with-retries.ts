import { UpstowError } from "../errors.ts";
import { backoffMs, wait } from "../http/wait.ts";
import type { Put, PutBody } from "./put.ts";

export interface PutPolicy {
  /** Maximum number of retries of a PUT, whether it failed or its URL was rejected. */
  retries: number;
  baseDelayMs: number;
}

/**
 * For 409: the storage may not have noticed yet that our last connection broke. It lets a newer body replace one that
 * was silent for 5 seconds; with the default base delay, these retries last longer than that.
 */
const busyRetries = 8;

export interface Delivery {
  body: PutBody;
  contentType?: string | undefined;
  /** The current URL; it changes when renewed. */
  url(): string;
  /** Requests a new URL in place of a rejected one. */
  renew(refusedUrl: string): Promise<void>;
  onProgress(sentBytes: number): void;
  /** Checks what the storage reports; throwing counts as a failed attempt. */
  check?: ((etag: string, url: string) => Promise<void>) | undefined;
}

/** Sends one body until it has arrived. Resolves with its etag, or an empty string if it cannot be read. */
export async function putWithRetries(
  put: Put,
  policy: PutPolicy,
  signal: AbortSignal,
  delivery: Delivery,
): Promise<string> {
  for (let puts = 1; ; puts++) {
    signal.throwIfAborted();
    const url = delivery.url();
    let failure: UpstowError;
    try {
      const { body, contentType, onProgress } = delivery;
      const { status, etag } = await put({ url, body, contentType, signal, onProgress });
      if (status < 300) {
        await delivery.check?.(etag, url);
        return etag;
      }
      failure = new UpstowError(`The storage returned ${status}.`, { code: "STORAGE_REFUSED", status });
    } catch (error) {
      signal.throwIfAborted();
      failure =
        error instanceof UpstowError
          ? error
          : new UpstowError("The connection to the storage was interrupted.", {
              code: "NETWORK_ERROR",
              cause: error,
            });
    }
    delivery.onProgress(0);
    const isRefused = failure.status === 403;
    const isBusy = failure.status === 409;
    // An upload may outlast its URLs, so a rejected one is renewed once even without retries.
    const most = isBusy ? Math.max(busyRetries, policy.retries) : policy.retries || Number(isRefused);
    if (puts > most) throw failure;
    if (isRefused) await delivery.renew(url);
    // An expired URL is no reason to back off.
    if (!isRefused || puts > 1) await wait(backoffMs(puts - 1, policy.baseDelayMs), signal);
  }
}
