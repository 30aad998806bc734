import type { CompletedFile } from "@upstow/sdk";
import type { LocalFile } from "./collect-files.ts";
import { fewAtOnce } from "./few-at-once.ts";
import type { openRunJournal } from "./run-journal.ts";

/** Files that an earlier run stored and that still exist. */
export async function findStored(
  files: readonly LocalFile[],
  journal: ReturnType<typeof openRunJournal>,
): Promise<Map<LocalFile, CompletedFile>> {
  const stored = new Map<LocalFile, CompletedFile>();
  await fewAtOnce(files, async (file) => {
    const kept = journal.find(file);
    if (kept !== undefined && !(await isGone(kept.url))) stored.set(file, kept);
  });
  return stored;
}

/** Requests the file's own URL: reads have no rate limit, while the API allows only a few calls per minute. */
async function isGone(url: string): Promise<boolean> {
  const answer = await fetch(url, { method: "HEAD", redirect: "manual" }).catch(() => null);
  return answer?.status === 404;
}
