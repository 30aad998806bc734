import type { Files } from "../api/files.ts";
import type { Uploads } from "../api/uploads.ts";
import { UpstowError } from "../errors.ts";
import { orAborted, wait } from "../http/wait.ts";
import type { FileObject, ImportProgress } from "../wire/files.ts";
import type { ImportUploadBody } from "../wire/uploads.ts";

export interface ImportOptions extends Omit<ImportUploadBody, "url" | "routeSlug"> {
  /** The file route. Default: `default`. */
  routeSlug?: string;
  /** When aborted, the file is deleted and its import ends. */
  signal?: AbortSignal;
  onProgress?: (progress: ImportProgress) => void;
  /** Called as soon as the import is accepted; the file is not stored yet. */
  onStart?: (file: FileObject) => void;
}

/** Status calls count toward the rate limit, so a long import is polled less and less often. */
const firstPauseMs = 500;
const longestPauseMs = 15_000;

export function createImport(uploads: Uploads, files: Files) {
  return async (url: string, options: ImportOptions = {}): Promise<FileObject> => {
    const { signal = new AbortController().signal, onProgress, onStart, ...body } = options;
    signal.throwIfAborted();
    let file = await uploads.import({ routeSlug: "default", ...body, url });
    try {
      onStart?.(file);
      for (let pauseMs = firstPauseMs; file.status === "UPLOADING"; pauseMs *= 1.5) {
        if (file.progress !== undefined) onProgress?.(file.progress);
        await wait(Math.min(pauseMs, longestPauseMs), signal);
        file = await orAborted(files.get(file.id, { signal }), signal);
      }
    } catch (error) {
      if (signal.aborted) await files.delete(file.id).catch(() => {});
      throw error;
    }
    if (file.status === "UPLOADED") return file;
    const { reason, message = "The file was not imported." } = file.failure ?? {};
    throw new UpstowError(message, {
      code: "IMPORT_FAILED",
      ...(reason === undefined ? {} : { cause: file.failure }),
    });
  };
}
