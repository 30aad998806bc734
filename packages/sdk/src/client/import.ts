import { wait } from "../http/wait.ts";
import type { Backend } from "./backend.ts";
import type { ImportUrlOptions, UploadedFile } from "./types.ts";

const firstPauseMs = 500;
const longestPauseMs = 15_000;

/** Asks ever less often, because each question counts toward a rate limit. */
export async function importFromUrl(
  backend: Backend,
  route: string,
  url: string,
  { input, signal = new AbortController().signal, onProgress }: ImportUrlOptions & { input?: unknown },
): Promise<UploadedFile<unknown>> {
  signal.throwIfAborted();
  const { token } = await backend.import({ route, url, input });
  try {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
      await wait(pauseMs, signal);
      const state = await backend.importState(token, false);
      if ("file" in state) return { ...state.file, result: state.result, isVerified: false };
      if (state.progress !== null) onProgress?.(state.progress);
    }
  } catch (error) {
    if (signal.aborted) await backend.importState(token, true).catch(() => {});
    throw error;
  }
}
