import {
  CompletedUploadBatch,
  CompleteUploadBatchBody,
  CompleteUploadBody,
  RequestedUploadBatch,
  RequestUploadBatchBody,
  RequestUploadBody,
  SINGLE_URL_SEC,
  type Static,
  UploadBatchBody,
} from "@upstow/contract";
import type { FastifyReply } from "fastify";
import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { errorBody, toAppError } from "../../http/error-handler.ts";
import type { Idempotency } from "../../http/idempotency.ts";
import type { ApiApp } from "../../http/request-context.ts";
import { createCheck } from "../../http/validation.ts";
import type { Actor } from "../../kernel/actor.ts";
import { AppError } from "../../kernel/errors.ts";
import { cdnFor } from "../../projects/file-url.ts";
import { toCompletedFile } from "../serialize.ts";
import { completeSingle } from "./finish-upload.ts";
import { findUpload } from "./queries.ts";
import { type OnSaved, repeatUpload, requestUpload } from "./request-upload.ts";

const tags = ["uploads"];
const rateWindow = "upload";
const description =
  "Every file succeeds or fails individually: 200 if all succeed, 207 if some do. If none does, the status is the first error's and the body has `error` in addition to the items.";
const serializerCompiler = () => JSON.stringify;
/** Each completion makes a few requests to the bucket; more at once would crowd out other callers. */
const bucketCompletionsAtOnce = 16;

const checkRequest = createCheck(RequestUploadBody);
const checkCompletion = createCheck(CompleteUploadBody);

type RequestedUploads = Static<typeof RequestedUploadBatch>["uploads"];
interface StoredUploads {
  uploads: ReturnType<typeof withoutUrl>[];
}

/** Up to 100 files count as one request toward the rate limit. Every file succeeds or fails individually. */
export function uploadBatchRoutes(
  app: ApiApp,
  deps: Deps,
  toRequested: (actor: Actor, file: FileRow) => Promise<object>,
): void {
  /** Only ids are stored, so a repeated call gets newly signed URLs. */
  async function replayRequests(actor: Actor, { uploads }: StoredUploads): Promise<object> {
    const { items } = await runBatch(deps, uploads, uploads.length, async (upload) => {
      if (!("fileId" in upload)) return upload;
      const file = await repeatUpload(deps, actor, upload.fileId, SINGLE_URL_SEC);
      return toRequested(actor, file);
    });
    return { uploads: items };
  }

  app.post(
    "/upload/batch/request",
    {
      schema: {
        tags,
        summary: "Request up to 100 presigned URLs",
        body: UploadBatchBody,
        documentedBody: RequestUploadBatchBody,
        description,
        response: { 200: RequestedUploadBatch, 207: RequestedUploadBatch },
      },
      serializerCompiler,
      config: {
        rateWindow,
        isLarge: true,
        errors: ["INVALID_FILE_TYPE", "TIER_LIMIT_EXCEEDED", "NOT_FOUND"],
        replay: ({ actor }, stored) => replayRequests(actor, stored as StoredUploads),
      },
    },
    async ({ actor, body, idempotency }, reply) => {
      const { files } = body;
      const hold: OnSaved = (tx) => idempotency.hold(tx);
      const outcome = await runBatch(deps, files, files.length, async (file) =>
        toRequested(actor, await requestUpload(deps, actor, checkRequest(file), hold)),
      );
      const uploads = outcome.items as RequestedUploads;
      if (outcome.failure === null)
        await idempotency.remember(deps.db, outcome.status, { uploads: uploads.map(withoutUrl) });
      return sendOutcome(reply, outcome, { uploads });
    },
  );

  app.post(
    "/upload/batch/complete",
    {
      schema: {
        tags,
        summary: "Confirm up to 100 uploads",
        body: UploadBatchBody,
        documentedBody: CompleteUploadBatchBody,
        description,
        response: { 200: CompletedUploadBatch, 207: CompletedUploadBatch },
      },
      serializerCompiler,
      config: {
        rateWindow,
        isLarge: true,
        errors: ["NOT_FOUND", "FILE_NOT_IN_STORAGE", "CONTENT_MISMATCH", "INSUFFICIENT_STORAGE"],
      },
    },
    async ({ actor, body, idempotency }, reply) => {
      const hold: OnSaved = (tx) => idempotency.hold(tx);
      const { files } = body;
      // On our own disk they all share a commit.
      const isInBucket = actor.storeName !== null || deps.store.withinTransaction === undefined;
      const atOnce = isInBucket ? bucketCompletionsAtOnce : files.length;
      const outcome = await runBatch(deps, files, atOnce, async (file) => {
        const saved = await completeOnce(deps, actor, checkCompletion(file), idempotency, hold);
        return { file: toCompletedFile(cdnFor(deps.config, actor), saved) };
      });
      const answer = { files: outcome.items };
      if (outcome.failure === null) await idempotency.remember(deps.db, outcome.status, answer);
      return sendOutcome(reply, outcome, answer);
    },
  );
}

/** After a crash, the repeated call also returns the files that the first one completed. */
async function completeOnce(
  deps: Deps,
  actor: Actor,
  item: Static<typeof CompleteUploadBody>,
  { isTakeover }: Idempotency,
  hold: OnSaved,
): Promise<FileRow> {
  try {
    return await completeSingle(deps, actor, item, hold);
  } catch (error) {
    if (!isTakeover || !(error instanceof AppError) || error.code !== "NOT_FOUND") throw error;
    const { projectId, environment } = actor;
    const file = await deps.db.get(findUpload, { id: item.fileId, projectId, environment });
    if (file?.status !== "UPLOADED" || file.upload_id !== null) throw error;
    return file;
  }
}

function sendOutcome(reply: FastifyReply, { status, failure }: BatchOutcome, answer: object): FastifyReply {
  if (failure === null) return reply.code(status).send(answer);
  return reply
    .code(status)
    .headers(failure.headers)
    .send({ ...answer, ...errorBody(failure) });
}

const withoutUrl = (item: RequestedUploads[number]) =>
  "fileId" in item ? { index: item.index, fileId: item.fileId } : item;

interface BatchOutcome {
  /** Results or errors, in the order of the inputs. */
  items: ({ index: number } & object)[];
  /** 200 if all succeeded, 207 if some did, otherwise the status of the first error. */
  status: number;
  /** The first error if nothing succeeded. */
  failure: AppError | null;
}

/** Runs every item independently, a few at a time. */
async function runBatch<Input>(
  { log }: Pick<Deps, "log">,
  inputs: Input[],
  atOnce: number,
  work: (input: Input) => Promise<object>,
): Promise<BatchOutcome> {
  const results: (object | AppError)[] = [];
  let next = 0;

  async function takeTurns(): Promise<void> {
    while (next < inputs.length) {
      const index = next++;
      results[index] = await work(inputs[index] as Input).catch(explain);
    }
  }

  function explain(error: unknown): AppError {
    const known = toAppError(error);
    if (known.status >= 500) log.error({ err: error }, "an item of a batch failed");
    return known;
  }

  await Promise.all(Array.from({ length: Math.min(atOnce, inputs.length) }, takeTurns));
  const items = results.map((result, index) => ({
    index,
    ...(result instanceof AppError ? errorBody(result) : result),
  }));
  const errors = results.filter((result) => result instanceof AppError);
  const [first] = errors;
  if (first === undefined) return { items, status: 200, failure: null };
  const isPartial = errors.length < results.length;
  return { items, status: isPartial ? 207 : first.status, failure: isPartial ? null : first };
}
