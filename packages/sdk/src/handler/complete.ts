import { settleBatch } from "../api/batch.ts";
import { UpstowError } from "../errors.ts";
import type { CompletedFile } from "../wire/files.ts";
import type { UploadedPart } from "../wire/uploads.ts";
import { hashOf } from "./many.ts";
import type { CompleteAnswer } from "./protocol.ts";
import {
  findFile,
  getRoute,
  type Handling,
  isNotFound,
  type OpenUpload,
  type Tools,
  upstream,
} from "./tools.ts";

interface Finished {
  file: CompletedFile;
  isRepeat: boolean;
}

/** Concurrent callbacks per call: most of them use a database with few connections. */
const callbacksAtOnce = 8;

export async function completeUpload<Context>(
  tools: Tools<Context>,
  upload: OpenUpload,
  parts: UploadedPart[] | undefined,
  handling: Handling<Context>,
): Promise<CompleteAnswer> {
  return conclude(tools, upload, await finish(tools, upload, parts), handling);
}

/** The service has stored the file by itself. */
export async function completeImported<Context>(
  tools: Tools<Context>,
  upload: OpenUpload,
  file: CompletedFile,
  handling: Handling<Context>,
): Promise<CompleteAnswer> {
  return conclude(tools, upload, { file, isRepeat: false }, handling);
}

async function conclude<Context>(
  tools: Tools<Context>,
  upload: OpenUpload,
  finished: Finished,
  handling: Handling<Context>,
): Promise<CompleteAnswer> {
  const answer = await callBack(tools, upload, finished, handling);
  const [claimed] = await claimAll(tools, [upload], [finished], [answer]);
  if (claimed === undefined || claimed instanceof UpstowError) throw claimed;
  return claimed;
}

/** Completes single-request uploads in one call to the service, then runs the callback of each. */
export async function completeUploads<Context>(
  tools: Tools<Context>,
  uploads: OpenUpload[],
  handling: Handling<Context>,
): Promise<(CompleteAnswer | UpstowError)[]> {
  const finished = await finishAll(tools, uploads);
  const answers: (CompleteAnswer | UpstowError)[] = [];
  const turns = uploads.entries();
  const takeTurns = async () => {
    for (const [i, upload] of turns) answers[i] = await settle(() => callBackOnce(upload, finished[i]));
  };
  const callBackOnce = async (upload: OpenUpload, result: Finished | UpstowError | undefined) => {
    if (result === undefined || result instanceof UpstowError) throw result;
    return callBack(tools, upload, result, handling);
  };
  await Promise.all(Array.from({ length: callbacksAtOnce }, takeTurns));
  return claimAll(tools, uploads, finished, answers);
}

type Answers = (CompleteAnswer | UpstowError)[];

/** Files that were handed to their callbacks stay. Those whose callback failed can be completed again until their time. */
async function claimAll<Context>(
  tools: Tools<Context>,
  uploads: OpenUpload[],
  finished: (Finished | UpstowError)[],
  answers: Answers,
): Promise<Answers> {
  const ids = answers.map((answer, i) => {
    const [upload, result] = [uploads[i], finished[i]];
    if (answer instanceof UpstowError || upload === undefined || result === undefined) return null;
    if (result instanceof UpstowError || !needsClaim(result.file)) return null;
    return getRoute(tools.router, upload.route).onUploadComplete === undefined ? null : result.file.id;
  });
  const wanted = ids.filter((id) => id !== null);
  if (wanted.length === 0) return answers;
  const { failures } = await upstream(() => tools.files.claim(wanted));
  const late = new Set(failures.map(({ key }) => key));
  return answers.map((answer, i) => (late.has(ids[i] ?? "") ? tooLate() : answer));
}

/** The time to claim a file that waits for its virus scan begins later. */
const needsClaim = ({ claimBy, scan }: CompletedFile) => claimBy !== null || scan === "pending";

const tooLate = () =>
  new UpstowError("The file was deleted because it was not claimed in time.", {
    code: "NOT_FOUND",
    status: 404,
    suggestion: "onUploadComplete must resolve within the claimWithin of the service's file route.",
  });

async function finishAll<Context>(
  tools: Tools<Context>,
  uploads: OpenUpload[],
): Promise<(Finished | UpstowError)[]> {
  let isRepeat = false;
  const ids = uploads.map(({ fileId }) => fileId);
  // A repeated call gets the lost response. Only one attempt, so a replay always means an earlier browser call.
  const options = {
    idempotencyKey: await hashOf(ids),
    retries: 0,
    onReplay: () => {
      isRepeat = true;
    },
  };
  const bodies = ids.map((fileId) => ({ fileId }));
  const items = await upstream(() => settleBatch(tools.uploads.completeMany(bodies, options), "files"));
  return Promise.all(
    uploads.map((upload, i) => {
      const item = items[i] as { file: CompletedFile } | UpstowError;
      if (!(item instanceof UpstowError)) return { file: item.file, isRepeat };
      // Bytes that were missing then may have arrived since.
      if (isRepeat) return settle(() => finish(tools, upload, undefined));
      return isNotFound(item) ? settle(() => findFinished(tools, upload)) : item;
    }),
  );
}

async function finish<Context>(
  tools: Tools<Context>,
  upload: OpenUpload,
  parts: UploadedPart[] | undefined,
): Promise<Finished> {
  const { fileId, uploadId } = upload;
  const { uploads } = tools;
  try {
    if (uploadId === null) {
      return { file: await upstream(() => uploads.complete({ fileId })), isRepeat: false };
    }
    if (parts !== undefined) {
      const body = { fileId, uploadId, parts };
      return { file: await upstream(() => uploads.multipart.complete(body)), isRepeat: false };
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return findFinished(tools, upload);
}

/** The response to an earlier call may have been lost, so an upload that is already complete counts as completed. */
async function findFinished<Context>(tools: Tools<Context>, upload: OpenUpload): Promise<Finished> {
  const file = await findFile(tools, upload);
  if (file?.status === "UPLOADED") return { file, isRepeat: true };
  throw new UpstowError("This upload has ended.", { code: "NOT_FOUND", status: 404 });
}

async function callBack<Context>(
  tools: Tools<Context>,
  upload: OpenUpload,
  { file, isRepeat }: Finished,
  handling: Handling<Context>,
): Promise<CompleteAnswer> {
  const { id, key, name, size, type, url, sha256 } = file;
  const route = getRoute(tools.router, upload.route);
  let result: unknown;
  try {
    result = await route.onUploadComplete?.({ file, metadata: upload.metadata, isRepeat, ...handling });
    // A result that JSON cannot represent must not fail the other files of this call.
    JSON.stringify(result);
  } catch (error) {
    if (error instanceof UpstowError) throw error;
    throw new UpstowError("The file was stored, but processing it afterwards failed.", {
      code: "CALLBACK_FAILED",
      status: 500,
      cause: error,
    });
  }
  return { file: { id, key, name, size, type, url, sha256 }, result };
}

async function settle<Result>(work: () => Promise<Result>): Promise<Result | UpstowError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UpstowError) return error;
    throw error;
  }
}
