import type {
  FinishMultipart,
  FinishMultipartResult,
  MultipartRef,
  ObjectStore,
  ReceivedPart,
} from "../object-store.ts";
import type { AccessProbe } from "./access-probe.ts";
import { unquote } from "./bucket-values.ts";
import type { ObjectNames } from "./location.ts";
import type { ObjectHeaders } from "./object-calls.ts";
import { withDeadline } from "./s3-call.ts";
import type { S3Client } from "./s3-client.ts";
import { hasS3Code, isMissing } from "./s3-error.ts";
import { toStored } from "./single-put.ts";

type Multipart = Pick<
  ObjectStore,
  "startMultipart" | "putPart" | "listParts" | "finishMultipart" | "abortMultipart"
>;
type Failure = Extract<FinishMultipartResult, { ok: false }>;

/** S3's minimum for every part but the last. */
export const minPartBytes = 5 * 1024 * 1024;

export interface MultipartDeps {
  client: S3Client;
  names: ObjectNames;
  probe: AccessProbe;
  headersOf: (contentType: string) => ObjectHeaders;
}

/** Parts go directly to the final name, because they cannot be read before the upload is completed. */
export function createBucketMultipart(
  { client, names, probe, headersOf }: MultipartDeps,
  finishDeadlineMs: number,
): Multipart {
  const refOf = ({ key, uploadId }: MultipartRef) => ({ key: names.finalOf(key), uploadId });

  /** After a crash or a lost response, an upload that is gone and left an object of the right size was completed. */
  async function findFinished(
    { objects }: S3Client,
    { key, sizeBytes }: FinishMultipart,
  ): Promise<FinishMultipartResult> {
    const head = await probe.nullIfForbidden(() => objects.findHead(names.finalOf(key)));
    if (head?.sizeBytes === sizeBytes) return { ok: true, object: toStored(head) };
    return failed("unknown-upload", "Storage no longer has this upload; abort it and start again.");
  }

  async function complete(limited: S3Client, upload: FinishMultipart, hasUnclaimed: boolean) {
    try {
      await limited.multipart.complete({ ...refOf(upload), parts: upload.parts });
    } catch (error) {
      const refusal = toFailure(error, hasUnclaimed);
      if (refusal !== null) return refusal;
      if (!isMissing(error)) throw error;
    }
    return findFinished(limited, upload);
  }

  const running = new Map<string, Promise<FinishMultipartResult>>();

  async function finish(limited: S3Client, upload: FinishMultipart): Promise<FinishMultipartResult> {
    const received = await limited.multipart.findParts(refOf(upload));
    if (received === null) return findFinished(limited, upload);
    const problem = findProblem(received, upload);
    if (problem === null) return complete(limited, upload, received.length > upload.parts.length);
    // It can only be checked here, because S3 accepts parts of any size.
    if (!isTooLarge(received, upload)) return problem;
    await limited.multipart.abort(refOf(upload));
    return failed("too-large", `${problem.message} All parts were removed, because they exceed the file.`);
  }

  return {
    startMultipart: ({ key, contentType }) =>
      client.multipart.create(names.finalOf(key), headersOf(contentType)),

    putPart: ({ partNumber, bytes, ...upload }) =>
      client.multipart.putPart({ ...refOf(upload), partNumber, bytes }),

    listParts: (upload, signal) =>
      (signal === undefined ? client : client.within(signal)).multipart.findParts(refOf(upload)),

    /** Concurrent calls for the same upload share one result, because assembling a large object is expensive. */
    finishMultipart(upload) {
      const question = JSON.stringify([upload.key, upload.uploadId, upload.sizeBytes, upload.parts]);
      const start = () => withDeadline(finishDeadlineMs, (signal) => finish(client.within(signal), upload));
      const joined = running.get(question) ?? start().finally(() => running.delete(question));
      running.set(question, joined);
      return joined;
    },

    abortMultipart: (upload) => client.multipart.abort(refOf(upload)),
  };
}

function claimedOf(received: ReceivedPart[], { parts }: FinishMultipart): ReceivedPart[] {
  const claimed = new Set(parts.map((part) => part.partNumber));
  return received.filter((part) => claimed.has(part.partNumber));
}

const totalOf = (parts: ReceivedPart[]) => parts.reduce((sum, part) => sum + part.sizeBytes, 0);

function isTooLarge(received: ReceivedPart[], upload: FinishMultipart): boolean {
  const largest = Math.max(0, ...received.map((part) => part.sizeBytes));
  return largest > upload.sizeBytes || totalOf(claimedOf(received, upload)) > upload.sizeBytes;
}

function findProblem(received: ReceivedPart[], upload: FinishMultipart): Failure | null {
  const byNumber = new Map(received.map((part) => [part.partNumber, part]));
  const last = upload.parts.at(-1)?.partNumber;
  for (const { partNumber, etag } of upload.parts) {
    const part = byNumber.get(partNumber);
    if (part === undefined) return failed("missing-part", `Part ${partNumber} has not been uploaded.`);
    if (unquote(etag) !== part.etag)
      return failed("wrong-etag", `The etag of part ${partNumber} does not match.`);
  }
  const total = totalOf(claimedOf(received, upload));
  if (total !== upload.sizeBytes)
    return failed("wrong-size", `The parts add up to ${total} bytes, not ${upload.sizeBytes}.`);
  const small = claimedOf(received, upload).find(
    (part) => part.partNumber !== last && part.sizeBytes < minPartBytes,
  );
  return small === undefined ? null : tooSmall(`part ${small.partNumber} has ${small.sizeBytes}`);
}

/** Something changed between listing the parts and completing; also, older Ceph requires all parts. */
function toFailure(error: unknown, hasUnclaimed: boolean): Failure | null {
  if (hasS3Code(error, "EntityTooSmall")) return tooSmall("one has fewer");
  if (!hasS3Code(error, "InvalidPart")) return null;
  if (hasUnclaimed) return failed("missing-part", "This storage requires every uploaded part to be listed.");
  return failed("wrong-etag", "A part was uploaded again in the meantime.");
}

function tooSmall(found: string): Failure {
  return failed(
    "part-too-small",
    `Every part but the last must have at least ${minPartBytes} bytes; ${found}. Parts of partSize bytes always work.`,
  );
}

function failed(problem: Failure["problem"], message: string): Failure {
  return { ok: false, problem, message };
}
