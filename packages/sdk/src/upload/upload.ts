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
import type { Access, CompletedFile, Metadata } from "../wire/files.ts";
import type { MultipartRef, RequestUploadBody, SignedPart, UploadedPart } from "../wire/uploads.ts";
import type { AppendJob, AppendStream } from "./append-stream.ts";
import { type ByteSource, multipartAboveBytes, openSource, type UploadSource } from "./byte-source.ts";
import { guessContentType } from "./content-type.ts";
import { createTogether, type Together } from "./together.ts";

export interface UploadOptions {
  /** The file's name. Defaults to that of the path or `File`. */
  name?: string;
  /** MIME type. Defaults to that of the `Blob`, or the one its name suggests. */
  type?: string;
  /** Bytes. A stream of more than 10 MB whose size is not given is sent piece by piece. */
  size?: number;
  /** The file route. Default: `default`. */
  routeSlug?: string;
  metadata?: Metadata;
  /** The route's unless given; a private route takes no public files. */
  access?: Access;
  /** Groups files for grants and revocation: an order, a user, a lesson. */
  audience?: string;
  /** Seconds until the file is deleted, from the start of the upload; instead of `expiresAt`. Default: the route's. */
  expiresIn?: number;
  /** When the file is deleted: ISO 8601 with a time zone. Null keeps the file, even if its route has a default. */
  expiresAt?: string | null;
  signal?: AbortSignal;
  /** The total of a stream without a size is what was sent so far. */
  onProgress?: (progress: { sentBytes: number; totalBytes: number }) => void;
  /** Maximum concurrent parts. Default: 3. */
  concurrency?: number;
  /** How often a failed part is retried. Default: 3. */
  retries?: number;
  /** Called with the ids of a multipart upload as soon as it is open: save them to resume it later. */
  onStart?: (upload: MultipartRef) => void;
  /**
   * Resume an earlier upload of the same bytes: only missing parts are sent, and `metadata` replaces the earlier value.
   * Rejects with NOT_FOUND if that upload has ended, and with VALIDATION_ERROR if its size differs.
   */
  resume?: MultipartRef;
  /** Called with the number of bytes of a resumed upload that were already there. */
  onResume?: (keptBytes: number) => void;
  /** Keep the sent parts on the service when this upload fails or is cancelled, so that it can be resumed. */
  keepOnFailure?: boolean;
}

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
  appendStream: AppendStream,
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
    const described = {
      fileName,
      contentType: options.type ?? source.type ?? guessContentType(fileName) ?? "application/octet-stream",
      routeSlug: options.routeSlug ?? "default",
      ...given,
      ...(options.access && { access: options.access }),
      ...(options.audience && { audience: options.audience }),
      ...(options.expiresIn !== undefined && { expiresIn: options.expiresIn }),
      ...(options.expiresAt !== undefined && { expiresAt: options.expiresAt }),
    };
    const policy = { retries: options.retries ?? 3, baseDelayMs: 500 };
    try {
      if (source.sizeBytes === null) {
        progress.opened();
        progress.sent();
        return await appendEndless(appendStream, { source, body: described, signal, policy }, options);
      }
      const job: Job = {
        uploads,
        files,
        put,
        together,
        progress,
        source,
        options,
        body: { ...described, fileSize: source.sizeBytes },
        // A resumed upload already has metadata, which the service replaces on completion.
        changes: options.resume && given,
        call: { signal },
        signal,
        policy,
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

function appendEndless(
  appendStream: AppendStream,
  job: Omit<AppendJob, "onProgress">,
  { resume, onProgress }: UploadOptions,
): Promise<CompletedFile> {
  if (resume !== undefined)
    throw new UpstowError("Resuming a stream needs the option size.", { code: "VALIDATION_ERROR" });
  return appendStream({
    ...job,
    onProgress: (sentBytes) => onProgress?.({ sentBytes, totalBytes: sentBytes }),
  });
}

function inSlots(put: Put, concurrency: number | undefined): Put {
  if (concurrency === undefined) return put;
  const inSlot = createSlots(concurrency);
  return (request) => inSlot(request.signal, () => put(request));
}

async function uploadAtOnce(job: Job): Promise<CompletedFile> {
  const { uploads, body, together, progress } = job;
  // The same key returns the same upload with a new URL, or one that replaces an upload opened in a batch.
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
    // A failed completion may have succeeded with its response lost, so remove the file only on cancellation.
    if (!isSent || job.signal.aborted) await job.files.delete(upload.key).catch(() => {});
    throw error;
  }
}

/** The call that opens an upload is never aborted: its id must be known, so that it can be removed. */
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
  // Large files do not share calls.
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
    // As for a single request.
    const isUnwanted = parts === undefined || job.signal.aborted;
    // Without the caller's signal, which is already aborted: the sent parts must be removed all the same.
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
    throw new UpstowError(`The upload to resume has ${size} bytes, not ${fileSize}.`, {
      code: "VALIDATION_ERROR",
    });
  }
  const received = wholeParts(fileSize, partSize, listed);
  // Missing parts without a URL are signed before they are sent.
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
