import type { ImportAnswer, ImportStateAnswer } from "../handler/protocol.ts";
import { wait } from "../http/wait.ts";
import type { Backend } from "./backend.ts";
import type { ImportUrlOptions, UploadedFile } from "./types.ts";

const firstPauseMs = 500;
const longestPauseMs = 15_000;

/** Asks ever less often, because each question counts toward a rate limit. */
export async function importFromUrl(
  { ask }: Backend,
  route: string,
  url: string,
  { input, signal, onProgress }: ImportUrlOptions & { input?: unknown },
): Promise<UploadedFile<unknown>> {
  const { token } = await ask<ImportAnswer>({ action: "import", route, url, input });
  const look = (isCancelled = false) => ask<ImportStateAnswer>({ action: "importState", token, isCancelled });
  try {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
      await wait(pauseMs, signal);
      const state = await look();
      if ("file" in state) return { ...state.file, result: state.result, isVerified: false };
      onProgress?.(state.progress);
    }
  } catch (error) {
    if (signal?.aborted) await look(true).catch(() => {});
    throw error;
  }
}
