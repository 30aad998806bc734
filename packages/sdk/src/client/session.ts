import { UpstowError } from "../errors.ts";
import type { StartAnswer } from "../handler/protocol.ts";
import type { Fetch } from "../http/call.ts";
import { createVerifier } from "../transfer/checksum.ts";
import type { Put } from "../transfer/put.ts";
import { type PutPolicy, putWithRetries } from "../transfer/put-with-retries.ts";
import { missingRanges, type PartRange, sendParts } from "../transfer/send-parts.ts";
import type { UploadedPart } from "../wire/uploads.ts";
import type { Backend } from "./backend.ts";
import type { Permit } from "./batch.ts";
import type { createCompletions } from "./completions.ts";
import type { Hold } from "./hold.ts";
import { readBack } from "./read-back.ts";
import type { UploadedFile } from "./types.ts";

export interface SessionTools {
  endpoint: string;
  backend: Backend;
  completions: Pick<ReturnType<typeof createCompletions>, "complete">;
  put: Put;
  policy: PutPolicy;
  concurrency: number;
  verify: boolean;
  /** The bytes to be sent for a file; always the same. */
  toSent(file: File): Promise<File>;
  /** Reads the stored bytes. */
  fetch: Fetch;
}

/** One upload that the backend has opened. It can be run, stopped and run again; bytes that arrived are kept. */
export interface Session {
  readonly token: string;
  readonly isMultipart: boolean;
  /** Some bytes had arrived before this page was opened. */
  readonly isResumed: boolean;
  sentBytes(): number;
  /** Only its completion is missing. */
  isSent(): boolean;
  /** The service no longer has an open upload for it. */
  isEnded(): boolean;
  /** Sends the missing bytes. */
  send(hold: Hold): Promise<void>;
  complete(hold: Hold): Promise<UploadedFile<unknown>>;
}

export function createSession(
  tools: SessionTools,
  file: File,
  permit: Permit,
  opened: StartAnswer,
  onProgress: (addedBytes: number) => void,
  onArrived: (sentBytes: number) => void = () => {},
): Session {
  const { backend, policy } = tools;
  const { token, partSize = file.size } = opened;
  const isMultipart = opened.partSize !== undefined;
  const isStored = opened.uploadUrl === undefined && !isMultipart;
  const whole = missingRanges(file.size, partSize, () => false);
  const sent = new Map((opened.received ?? []).map((part) => [part.partNumber, part.etag]));
  const underWay = new Map<number, number>();
  const verifier = tools.verify ? createVerifier() : null;
  let { uploadUrl = "" } = opened;
  let urls = opened.parts ?? [];
  let isEnded = false;
  let isSent = false;
  let isUnchecked = verifier !== null && sent.size > 0;

  /** Another one than `file` only while it is being sent, because it may be in memory. */
  let body = file;

  const sliceOf = ({ start, end }: PartRange) => body.slice(start, end);
  const note = (partNumber: number, sentBytes: number) => {
    onProgress(sentBytes - (underWay.get(partNumber) ?? 0));
    underWay.set(partNumber, sentBytes);
  };

  /** Complete parts plus the given progress of the others. */
  const countBytes = (ofMissing: (partNumber: number) => number) =>
    whole.reduce((sum, { partNumber, start, end }) => {
      const isThere = isStored || sent.has(partNumber);
      return sum + (isThere ? end - start : Math.min(end - start, ofMissing(partNumber)));
    }, 0);

  /** An earlier page may have sent a different file that looked the same. */
  async function checkReceived(): Promise<void> {
    const url = urls[0]?.uploadUrl ?? "?";
    for (const range of whole) {
      const etag = sent.get(range.partNumber);
      if (etag === undefined) continue;
      await verifier?.check(sliceOf(range), etag, url).catch(() => sent.delete(range.partNumber));
    }
    isUnchecked = false;
  }

  async function sendWhole(hold: Hold): Promise<void> {
    const etag = await putWithRetries(tools.put, policy, hold.signal, {
      body,
      contentType: file.type || "application/octet-stream",
      url: () => uploadUrl,
      renew: async () => {
        uploadUrl = (await permit.renew(token, hold)).uploadUrl ?? "";
      },
      onProgress: (sentBytes) => note(1, sentBytes),
      check: verifier?.check.bind(null, body),
    });
    sent.set(1, etag);
  }

  async function sendMissing(hold: Hold): Promise<void> {
    if (isUnchecked) await checkReceived();
    await sendParts({
      ranges: whole.filter((range) => !sent.has(range.partNumber)),
      urls,
      concurrency: tools.concurrency,
      policy,
      signal: hold.signal,
      put: tools.put,
      verifier,
      read: async (range) => sliceOf(range),
      sign: async (partNumbers) => {
        urls = await backend.sign(token, partNumbers, hold);
        return urls;
      },
      onProgress: note,
      onSent({ partNumber, etag }) {
        sent.set(partNumber, etag);
        onArrived(countBytes(() => 0));
      },
    });
  }

  async function listSent(hold: Hold): Promise<UploadedPart[] | undefined> {
    if (!isMultipart || isEnded) return undefined;
    // Storage that hides etags from browsers still shows them to the backend.
    if ([...sent.values()].includes("")) {
      for (const { partNumber, etag } of await backend.parts(token, hold)) sent.set(partNumber, etag);
    }
    return [...sent]
      .map(([partNumber, etag]) => ({ partNumber, etag }))
      .sort((a, b) => a.partNumber - b.partNumber);
  }

  async function send(hold: Hold): Promise<void> {
    isSent = false;
    underWay.clear();
    try {
      body = await tools.toSent(file);
      if (isMultipart) await sendMissing(hold);
      else if (!isStored && sent.size === 0) await sendWhole(hold);
    } catch (error) {
      // Another tab ended this upload. If it was completed, that is the result we want.
      isEnded = (error as UpstowError).code === "NOT_FOUND";
      if (!isEnded) throw error;
    } finally {
      body = file;
    }
    isSent = true;
  }

  async function finish(hold: Hold): Promise<UploadedFile<unknown>> {
    const parts = await listSent(hold);
    const { file: stored, result } = await (isMultipart || permit.canComplete === "alone"
      ? backend.complete(token, parts, hold)
      : tools.completions.complete(token, hold));
    const isCompared = verifier?.isComplete() === true && !isStored;
    const isVerified =
      isCompared ||
      (verifier !== null && (await readBack(tools.fetch, stored.url, await tools.toSent(file), hold.signal)));
    return { ...stored, result, isVerified };
  }

  return {
    token,
    isMultipart,
    isResumed: isStored || sent.size > 0,
    sentBytes: () => countBytes((partNumber) => underWay.get(partNumber) ?? 0),
    isSent: () => isSent,
    isEnded: () => isEnded,
    send,
    async complete(hold) {
      try {
        return await finish(hold);
      } catch (error) {
        if (!(error instanceof UpstowError) || error.code !== "FILE_NOT_IN_STORAGE") throw error;
      }
      // Some parts are missing after all: check which, and send them.
      const received = isMultipart ? await backend.parts(token, hold) : [];
      sent.clear();
      for (const { partNumber, etag } of received) sent.set(partNumber, etag);
      await send(hold);
      return finish(hold);
    },
  };
}
