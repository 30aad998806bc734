import type { Body, Meta, Uppy, UppyFile } from "@uppy/core";
import type { ImportUrlOptions, UploadedFile, Uploader } from "@upstow/sdk/client";

/** The URL of a file that Uppy's Url plugin has added, which waits for a server to fetch it. */
export function urlOf<M extends Meta, B extends Body>(file: UppyFile<M, B>): string | null {
  if (!("remote" in file) || !file.remote?.url?.endsWith("/url/get")) return null;
  const url = file.remote.body?.["url"];
  return typeof url === "string" ? url : null;
}

/** Files that the service fetches by itself. They end when Uppy no longer has them. */
export class Imports<M extends Meta, B extends Body> {
  readonly #uppy: Uppy<M, B>;
  readonly #running = new Map<string, AbortController>();

  constructor(uppy: Uppy<M, B>) {
    this.#uppy = uppy;
  }

  /** Null if it was removed meanwhile. */
  async fetch(
    uploader: Uploader,
    { id }: UppyFile<M, B>,
    wanted: { route: string; url: string; input: unknown },
  ): Promise<UploadedFile<unknown> | null> {
    const abort = new AbortController();
    this.#running.set(id, abort);
    const onProgress: ImportUrlOptions["onProgress"] = ({ receivedBytes, totalBytes }) => {
      const file = this.#uppy.getFile(id);
      if (file === undefined) return;
      this.#uppy.emit("upload-progress", file, {
        uploadStarted: file.progress.uploadStarted ?? Date.now(),
        bytesUploaded: receivedBytes,
        bytesTotal: totalBytes,
      });
    };
    try {
      const { route, url, input } = wanted;
      return await uploader.importFromUrl(route, url, { input, signal: abort.signal, onProgress });
    } catch (error) {
      if (abort.signal.aborted) return null;
      throw error;
    } finally {
      if (this.#running.get(id) === abort) this.#running.delete(id);
    }
  }

  /** Ends those that are not among these. */
  keepOnly(files: Readonly<Record<string, unknown>>): void {
    for (const [id, abort] of this.#running) if (files[id] === undefined) abort.abort();
  }
}
