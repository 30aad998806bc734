import type { Readable } from "node:stream";
import type { Queryable } from "../../../db/database.ts";
import type { FileRow } from "../../../db/schema.ts";
import type { Deps } from "../../../deps.ts";
import { AppError } from "../../../kernel/errors.ts";
import type { FinishAppend, Progress } from "../../../storage/object-store.ts";
import { confirmAppended, finishAppended, notStored } from "../finish-upload.ts";
import type { Uploader } from "../request-upload.ts";
import { createBody } from "./body.ts";
import { takeUpload } from "./lease.ts";
import type { ResumableUpload } from "./queries.ts";
import { cancelResumable, fixLength, getResumable, otherLength, targetOf } from "./uploads.ts";

export interface Append {
  offset: number;
  stream: Readable;
  /** Null if the body does not say it. */
  contentLength: number | null;
  /** The whole length, where it was not known before or has to be the same. */
  length?: number | undefined;
  /** The body ends the file, whatever length was expected of one that was not known. */
  endsFile?: boolean;
  /** Called with each chunk, and once the body has arrived, before anything of it is kept. */
  checksum?: { update(chunk: Buffer): void; verify(): void } | undefined;
  isOwned?: boolean;
  /** The upload becomes part of another one, instead of a file. */
  staysOpen?: boolean;
}

/** At another offset than the client believes. */
export class WrongOffset extends AppError {
  readonly offset: number;

  constructor(offset: number) {
    super("CONFLICT", `The upload continues at ${offset}.`, {
      suggestion: "Get the offset with HEAD, then send the bytes from there.",
      headers: { "upload-offset": String(offset) },
    });
    this.offset = offset;
  }
}

/** More bytes than the upload has. */
export const tooLong = (length: number) =>
  new AppError("VALIDATION_ERROR", `The upload has ${length} bytes, and more were sent.`, {
    status: 413,
    suggestion: "Send no more bytes than the announced length.",
  });

const belowOffset = (length: number, offset: number) =>
  new AppError(
    "VALIDATION_ERROR",
    `The length ${length} is below the ${offset} bytes that this upload has received.`,
    { suggestion: "Send the length of the whole file, or cancel this upload and start again." },
  );

/** The client is gone, or will be, and may continue later. */
class CutOff extends AppError {
  constructor() {
    super("VALIDATION_ERROR", "The body ended early.", {
      suggestion: "Get the offset with HEAD, then continue there. The received bytes were kept.",
      headers: { connection: "close" },
    });
  }
}

/**
 * Appends a body at an offset and returns the upload as it is then, finished if it has all of its bytes. Of two bodies for
 * one offset, one is kept. The received part of a broken body is durable, and so is everything before this resolves.
 */
export async function appendTo(deps: Deps, given: ResumableUpload, append: Append): Promise<ResumableUpload> {
  let upload = given;
  /** Why the file was not confirmed, although its bytes are saved. */
  let refusal: Error | null = null;
  if (upload.status === "UPLOADED") return repeatLast(upload, append);
  if (upload.offset_bytes !== append.offset && upload.lease_until === 0)
    throw new WrongOffset(upload.offset_bytes);
  const { appends } = await deps.stores.get(upload.store);
  const lease = await takeUpload(deps, upload, appends);

  function advance({ offset, state }: Progress, file: Partial<FileRow> = {}): void {
    upload = { ...upload, ...file, offset_bytes: offset, store_state: state };
  }

  /** Saves the last bytes and confirms the file in one transaction, unless its route inspects the bytes first. */
  const finish: FinishAppend = (progress, seal) =>
    lease.save(progress, true, async (guard) => {
      let isSaved = false;
      const within = async (tx: Queryable) => {
        await guard(tx);
        const sealed = await seal(tx);
        if (!sealed.ok) throw notStored(sealed);
        return sealed;
      };
      const first = async () => {
        const sealed = await deps.db.transact(within);
        isSaved = true;
        return sealed;
      };
      try {
        advance(progress, await confirmAppended(deps, upload, { within, first }));
      } catch (error) {
        if (!isSaved) throw error;
        advance(progress);
        refusal = error as Error;
      }
    });

  try {
    upload = { ...upload, offset_bytes: lease.offset, store_state: lease.state, length_bytes: lease.length };
    if (lease.offset !== append.offset) throw new WrongOffset(lease.offset);
    upload = await settleLength(deps, upload, append);
    const limit = upload.size_bytes;
    if (append.offset + (append.contentLength ?? 0) > limit) throw tooLong(limit);
    const { checksum } = append;
    const body = createBody(append.stream, limit - append.offset, (chunk) => checksum?.update(chunk));
    lease.watch(body);
    const isWhole = () => upload.length_bytes !== null && append.offset + body.receivedBytes() === limit;
    const endsFile = () => append.endsFile === true && body.outcome() === "whole";
    await appends.append(
      targetOf(upload),
      {
        chunks: body.chunks,
        expectedBytes: append.contentLength ?? 0,
        isOwned: append.isOwned ?? false,
        isLast: () => endsFile() || isWhole(),
        finish: () =>
          isWhole() && append.staysOpen !== true && body.outcome() !== "too-long" ? finish : null,
        ...(checksum && {
          verify: () => {
            if (body.outcome() === "broken") throw new CutOff();
            checksum.verify();
          },
        }),
      },
      async (progress, work) => {
        const isEnd = progress.offset === upload.length_bytes;
        await lease.save(progress, isEnd, (guard) =>
          deps.db.transact(async (tx) => {
            await guard(tx);
            await work?.(tx);
          }),
        );
        advance(progress);
      },
    );
    if (refusal !== null) throw refusal;
    if (body.outcome() === "too-long") throw tooLong(limit);
    if (body.outcome() === "broken") throw new CutOff();
    if (endsFile() && upload.length_bytes === null)
      upload = await fixLength(deps, upload, upload.offset_bytes);
  } finally {
    await lease.release();
  }
  return append.staysOpen === true ? upload : finishIfWhole(deps, upload);
}

/**
 * The bytes sent with the creation of an upload. If they are rejected, nothing of the upload remains, and it no longer
 * counts against its grant. After a lost connection or a full disk, the upload can continue.
 */
export async function appendFirst(
  deps: Deps,
  { grant }: Pick<Uploader, "grant">,
  upload: ResumableUpload,
  append: () => Promise<ResumableUpload>,
): Promise<ResumableUpload> {
  try {
    return await append();
  } catch (error) {
    if (isRefusal(error)) {
      // Null if the rejection has ended it.
      const open = await getResumable(deps, upload.id).catch(nullIfGone);
      if (open !== null) await cancelResumable(deps, open, grant?.id);
    }
    throw error;
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof AppError && error.status < 500 && error.status !== 409 && !(error instanceof CutOff);

/** A client that lost the last response requests it with an empty append. */
async function repeatLast(upload: ResumableUpload, append: Append): Promise<ResumableUpload> {
  if (append.offset !== upload.size_bytes) throw new WrongOffset(upload.size_bytes);
  if ((append.contentLength ?? 0) > 0) throw tooLong(upload.size_bytes);
  // Once destroyed, the request could no longer get a response.
  for await (const chunk of append.stream.iterator({ destroyOnReturn: false }))
    if (chunk.length > 0) throw tooLong(upload.size_bytes);
  return upload;
}

async function settleLength(deps: Deps, upload: ResumableUpload, append: Append): Promise<ResumableUpload> {
  const { length, endsFile, contentLength, offset } = append;
  const said = length ?? (endsFile === true && contentLength !== null ? offset + contentLength : undefined);
  if (said === undefined) return upload;
  if (upload.length_bytes !== null) {
    if (said !== upload.length_bytes) throw otherLength();
    return upload;
  }
  if (said > upload.size_bytes) throw tooLong(upload.size_bytes);
  if (said < upload.offset_bytes) throw belowOffset(said, upload.offset_bytes);
  return fixLength(deps, upload, said);
}

/** The one end of all doors. A crash before it leaves an upload that any further request finishes. */
export async function finishIfWhole(deps: Deps, upload: ResumableUpload): Promise<ResumableUpload> {
  if (upload.status === "UPLOADED" || upload.length_bytes === null) return upload;
  if (upload.offset_bytes < upload.length_bytes) return upload;
  try {
    const file = await finishAppended(deps, upload, targetOf(upload));
    return { ...upload, ...file };
  } catch (error) {
    // Another request may have finished it at the same moment.
    const found = await getResumable(deps, upload.id).catch(nullIfGone);
    if (found?.status === "UPLOADED") return found;
    throw error;
  }
}

function nullIfGone(error: unknown): null {
  if (error instanceof AppError && error.code === "NOT_FOUND") return null;
  throw error;
}
