import type { Fetch } from "../http/call.ts";
import { stoppable } from "../http/wait.ts";

export type PutBody = Blob | Uint8Array<ArrayBuffer>;

export interface PutRequest {
  url: string;
  body: PutBody;
  /** Part of the signature of a single-request upload; parts have none. */
  contentType?: string | undefined;
  signal: AbortSignal;
  onProgress: (sentBytes: number) => void;
}

export interface PutAnswer {
  status: number;
  /** Empty if the storage does not let browsers read it. */
  etag: string;
}

/** Sends bytes to a presigned URL. Rejects only if there was no response. */
export type Put = (request: PutRequest) => Promise<PutAnswer>;

export const sizeOf = (body: PutBody): number => ("size" in body ? body.size : body.byteLength);

// An upload slower than this will never finish.
const slowestBytesPerSec = 16 * 1024;

/** Without progress events, all that can be detected is that a request takes far too long. */
export function createFetchPut(getFetch: () => Fetch): Put {
  return ({ url, body, contentType, signal, onProgress }) => {
    const sizeBytes = sizeOf(body);
    return stoppable([signal], 60_000 + (sizeBytes / slowestBytesPerSec) * 1000, async (stop) => {
      const response = await getFetch()(url, {
        method: "PUT",
        body,
        headers: contentType === undefined ? {} : { "content-type": contentType },
        signal: stop.signal,
      });
      await response.arrayBuffer();
      if (response.ok) onProgress(sizeBytes);
      return { status: response.status, etag: response.headers.get("etag") ?? "" };
    });
  };
}
