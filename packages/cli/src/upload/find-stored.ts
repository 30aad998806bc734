import type { CompletedFile } from "@upstow/sdk";
import type { LocalFile } from "./collect-files.ts";
import { fewAtOnce } from "./few-at-once.ts";
import type { openRunJournal } from "./run-journal.ts";

/** What an earlier run has stored and nobody has deleted since. */
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

/** Asks the file's own address: reads are not limited, and calls of the API are to a few a minute. */
async function isGone(url: string): Promise<boolean> {
  const answer = await fetch(url, { method: "HEAD", redirect: "manual" }).catch(() => null);
  return answer?.status === 404;
}
