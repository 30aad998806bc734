import type { CompletedFile, UploadOptions, UploadSource, Upstow } from "@upstow/sdk";
import type { LocalFile } from "./collect-files.ts";
import { fewAtOnce } from "./few-at-once.ts";
import type { createProgressBars } from "./progress-bars.ts";
import type { UnfinishedUploads } from "./unfinished-uploads.ts";

export interface UploadJob {
  upstow: Upstow;
  files: LocalFile[];
  /** Where the bytes come from, and what is stored with them. Called once per attempt. */
  prepare(file: LocalFile): { source: UploadSource; options: UploadOptions };
  unfinished: UnfinishedUploads;
  bars: ReturnType<typeof createProgressBars>;
  onDone(file: LocalFile, stored: CompletedFile): void;
  onFailed(file: LocalFile, error: unknown): void;
}

/** Sent in one request; the SDK opens and completes such files in batches. */
const smallBytes = 10 * 1024 * 1024;

/** Small files sent together: at most one batch, and no more bytes than fit in memory. */
const groupFiles = 100;
const groupBytes = 64 * 1024 * 1024;

/** A file that fails does not stop the others. */
export async function uploadFiles(job: UploadJob): Promise<void> {
  const isSmall = ({ sizeBytes }: LocalFile) => sizeBytes <= smallBytes;
  const upload = (file: LocalFile) => uploadOne(job, file);
  for (const group of inGroups(job.files.filter(isSmall))) await Promise.all(group.map(upload));
  await fewAtOnce(
    job.files.filter((file) => !isSmall(file)),
    upload,
  );
}

function inGroups(files: LocalFile[]): LocalFile[][] {
  const groups: LocalFile[][] = [];
  let bytes = 0;
  for (const file of files) {
    const last = groups.at(-1);
    bytes += file.sizeBytes;
    if (last !== undefined && last.length < groupFiles && bytes <= groupBytes) last.push(file);
    else {
      groups.push([file]);
      bytes = file.sizeBytes;
    }
  }
  return groups;
}

async function uploadOne(job: UploadJob, file: LocalFile): Promise<void> {
  const bar = job.bars.start(file.name, file.sizeBytes);
  try {
    const stored = await uploadFile(job, file, bar);
    bar.end(true);
    job.onDone(file, stored);
  } catch (error) {
    bar.end(false);
    job.onFailed(file, error);
  }
}

type Bar = ReturnType<UploadJob["bars"]["start"]>;

async function uploadFile(job: UploadJob, file: LocalFile, bar: Bar): Promise<CompletedFile> {
  const earlier = job.unfinished.find(file);
  const send = (resume: Pick<UploadOptions, "resume">) => {
    const { source, options } = job.prepare(file);
    return job.upstow.upload(source, {
      ...options,
      ...resume,
      name: file.name,
      keepOnFailure: true,
      onStart: (ref) => job.unfinished.save(file, ref),
      onProgress: ({ sentBytes }) => bar.move(sentBytes),
      onResume: (keptBytes) => bar.resumed(keptBytes),
    });
  };
  try {
    const stored = await send(earlier === undefined ? {} : { resume: earlier });
    job.unfinished.remove(file);
    return stored;
  } catch (error) {
    // The service no longer has the earlier upload: it was completed, removed or discarded.
    if (earlier === undefined || (error as { code?: string }).code !== "NOT_FOUND") throw error;
  }
  job.unfinished.remove(file);
  const stored = await send({});
  job.unfinished.remove(file);
  return stored;
}
