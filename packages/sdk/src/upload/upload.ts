import type { Files } from "../api/files.ts";
import type { RequestOptions } from "../api/request.ts";
import type { Uploads } from "../api/uploads.ts";
import { UpstowError } from "../errors.ts";
import type { Fetch } from "../http/call.ts";
import { orAborted } from "../http/wait.ts";
import { createFetchPut, type Put } from "../transfer/put.ts";
import { putWithRetries } from "../transfer/put-with-retries.ts";
import { missingRanges, sendParts, wholeParts } from "../transfer/send-parts.ts";
import { createSlots } from "../transfer/slots.ts";
import type { CompletedFile, Metadata } from "../wire/files.ts";
import type { MultipartRef, RequestUploadBody, SignedPart, UploadedPart } from "../wire/uploads.ts";
import { type ByteSource, openSource, type UploadSource } from "./byte-source.ts";
import { guessContentType } from "./content-type.ts";
import { createTogether, type Together } from "./together.ts";

export interface UploadOptions {
  /** The file's name; a path and a `File` bring one. */
  name?: string;
  /** MIME type; a `Blob` brings one, and most names tell one. */
  type?: string;
  /** Bytes. A stream without it is held in memory, up to 64 MB. */
  size?: number;
  /** The file route; `default` unless given. */
  routeSlug?: string;
  metadata?: Metadata;
  signal?: AbortSignal;
  onProgress?: (progress: { sentBytes: number; totalBytes: number }) => void;
  /** Parts under way at once; 3 unless given. */
  concurrency?: number;
  /** How often a part that failed is sent again; 3 unless given. */
  retries?: number;
  /** Hears the ids of a multipart upload as soon as there are any: keep them to resume it later. */
  onStart?: (upload: MultipartRef) => void;
  /**
   * Go on with an earlier upload of the same bytes: only what the service lacks is sent, and `metadata` replaces what
   * was given then. Rejects with NOT_FOUND where that upload has ended, and with VALIDATION_ERROR where it was of another
   * size.
   */
  resume?: MultipartRef;
  /** Hears how much of a resumed upload was there already. */
  onResume?: (keptBytes: number) => void;
  /** Leave what was sent on the service when this upload fails or is cancelled, to be resumed. */
  keepOnFailure?: boolean;
}

const multipartAboveBytes = 10 * 1024 * 1024;

interface Job {
  uploads: Uploads;
  files: Files;
  put: Put;
  together: Together;
  progress: ReturnType<Together["expect"]>;
  source: ByteSource;
  body: RequestUploadBody;
  options: UploadOptions;
  changes: { metadata: Metadata } | undefined;
  call: RequestOptions;
  signal: AbortSignal;
  policy: { retries: number; baseDelayMs: number };
}

export function createUpload(
  uploads: Uploads,
  files: Files,
  getFetch: () => Fetch,
  concurrency: number | undefined,
) {
  const put = inSlots(createFetchPut(getFetch), concurrency);
  const together = createTogether(uploads, concurrency !== undefined);
  return async (from: UploadSource, options: UploadOptions = {}): Promise<CompletedFile> => {
    const { signal = new AbortController().signal } = options;
    const given = options.metadata && { metadata: options.metadata };
    const progress = together.expect();
    const source = await orAborted(openSource(from, options.size), signal).catch((error) => {
      progress.opened();
      progress.sent();
      throw error;
    });
    const fileName = options.name ?? source.name ?? "file";
    try {
      const job: Job = {
        uploads,
        files,
        put,
        together,
        progress,
        source,
        options,
        body: {
          fileName,
          fileSize: source.sizeBytes,
          contentType:
            options.type ?? source.type ?? guessContentType(fileName) ?? "application/octet-stream",
          routeSlug: options.routeSlug ?? "default",
          ...given,
        },
        // An earlier upload has its own, which the service replaces when it is completed.
        changes: options.resume && given,
        call: { signal },
        signal,
        policy: { retries: options.retries ?? 3, baseDelayMs: 500 },
      };
      const isInParts = source.sizeBytes > multipartAboveBytes || options.resume !== undefined;
      return await (isInParts ? uploadInParts(job) : uploadAtOnce(job));
    } finally {
      progress.opened();
      progress.sent();
      await source.close?.();
    }
  };
}

function inSlots(put: Put, concurrency: number | undefined): Put {
  if (concurrency === undefined) return put;
  const inSlot = createSlots(concurrency);
  return (request) => inSlot(request.signal, () => put(request));
}

async function uploadAtOnce(job: Job): Promise<CompletedFile> {
  const { uploads, body, together, progress } = job;
  // The same key gets the same upload with a fresh URL, or one in place of an upload that was opened with others.
  const idempotencyKey = crypto.randomUUID();
  let isSent = false;
  const opening = together.request(body, idempotencyKey);
  progress.opened();
  let upload = await orRemoved(opening, job.signal, ({ key }) => job.files.delete(key));
  try {
    const bytes = await orAborted(job.source.read(0, body.fileSize), job.signal);
    await putWithRetries(job.put, job.policy, job.signal, {
      body: bytes,
      contentType: body.contentType,
      url: () => upload.uploadUrl,
      renew: async () => {
        upload = await uploads.request(body, { idempotencyKey });
      },
      onProgress: (sentBytes) => job.options.onProgress?.({ sentBytes, totalBytes: body.fileSize }),
    });
    isSent = true;
    const completing = together.complete(upload.fileId);
    progress.sent();
    return await orAborted(completing, job.signal);
  } catch (error) {
    // A completion that fails may have been done, and only its answer lost: then, only who cancels wants it gone.
    if (!isSent || job.signal.aborted) await job.files.delete(upload.key).catch(() => {});
    throw error;
  }
}

/** The call that opens an upload is not told to stop: what it opens must be known, to be removed again. */
async function orRemoved<Upload>(
  opening: Promise<Upload>,
  signal: AbortSignal,
  remove: (upload: Upload) => Promise<void>,
): Promise<Upload> {
  try {
    return await orAborted(opening, signal);
  } catch (error) {
    if (signal.aborted) opening.then(remove).catch(() => {});
    throw error;
  }
}

interface OpenParts extends MultipartRef {
  partSize: number;
  urls: SignedPart[];
  received: UploadedPart[];
}

async function uploadInParts(job: Job): Promise<CompletedFile> {
  const { uploads, options, call } = job;
  const { multipart } = uploads;
  // Large files have calls of their own.
  job.progress.opened();
  job.progress.sent();
  const open = await (options.resume === undefined ? start(job) : reopen(job, options.resume));
  const ref = { fileId: open.fileId, uploadId: open.uploadId };
  let parts: UploadedPart[] | undefined;
  try {
    options.onStart?.(ref);
    parts = await sendMissing(job, open);
    return await multipart.complete({ ...ref, parts, ...job.changes }, call);
  } catch (error) {
    // As in one piece.
    const isUnwanted = parts === undefined || job.signal.aborted;
    // The caller's signal is aborted already; what is on the service must go all the same.
    if (isUnwanted && options.keepOnFailure !== true) await multipart.abort(ref).catch(() => {});
    throw error;
  }
}

async function start({ uploads: { multipart }, body, signal }: Job): Promise<OpenParts> {
  const { parts, ...upload } = await orRemoved(multipart.init(body), signal, multipart.abort);
  return { ...upload, urls: parts, received: [] };
}

async function reopen(job: Job, ref: MultipartRef): Promise<OpenParts> {
  const { fileSize } = job.body;
  const { parts: listed, partSize, key } = await job.uploads.multipart.list(ref, job.call);
  const { size } = await job.files.get(key, job.call);
  if (size !== fileSize) {
    throw new UpstowError(`The upload to resume is of ${size} bytes, not ${fileSize}.`, {
      code: "VALIDATION_ERROR",
    });
  }
  const received = wholeParts(fileSize, partSize, listed);
  // Without a URL, what is missing is signed before it is sent.
  return { ...ref, partSize, urls: [], received };
}

async function sendMissing(job: Job, open: OpenParts): Promise<UploadedPart[]> {
  const { options, body } = job;
  const done = new Map(open.received.map((part) => [part.partNumber, part.etag]));
  const ranges = missingRanges(body.fileSize, open.partSize, (partNumber) => done.has(partNumber));
  const sentByPart = new Map<number, number>();
  const keptBytes = ranges.reduce((rest, range) => rest - range.end + range.start, body.fileSize);
  if (options.resume !== undefined) options.onResume?.(keptBytes);

  await sendParts({
    ranges,
    urls: open.urls,
    concurrency: options.concurrency ?? 3,
    policy: job.policy,
    signal: job.signal,
    put: job.put,
    verifier: null,
    read: (range) => job.source.read(range.start, range.end),
    sign: async (partNumbers) => {
      const { fileId, uploadId } = open;
      return (await job.uploads.multipart.sign({ fileId, uploadId, partNumbers }, job.call)).parts;
    },
    onProgress(partNumber, sentBytes) {
      sentByPart.set(partNumber, sentBytes);
      const all = [...sentByPart.values()].reduce((sum, bytes) => sum + bytes, keptBytes);
      options.onProgress?.({ sentBytes: all, totalBytes: body.fileSize });
    },
    onSent: ({ partNumber, etag }) => done.set(partNumber, etag),
  });
  return [...done].sort(([a], [b]) => a - b).map(([partNumber, etag]) => ({ partNumber, etag }));
}
