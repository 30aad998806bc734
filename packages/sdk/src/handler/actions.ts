import { UpstowError } from "../errors.ts";
import { mayPass } from "../http/call.ts";
import { beginUploads } from "./begin.ts";
import { completeUpload, completeUploads } from "./complete.ts";
import { answerImportState, startImport } from "./import.ts";
import { openMany, toManyAnswer } from "./many.ts";
import type { Action, BeginAnswer, CompleteAnswer, StartAnswer } from "./protocol.ts";
import { invalid } from "./rules.ts";
import { isInParts, startUpload, startUploads } from "./start.ts";
import {
  findFile,
  getRoute,
  type Handling,
  isNotFound,
  type OpenUpload,
  type Ticket,
  type Tools,
  upstream,
} from "./tools.ts";

type Answer = BeginAnswer | StartAnswer | CompleteAnswer | object;

export function createActions<Context>(tools: Tools<Context>) {
  const { seal, uploads } = tools;
  const open = (token: unknown) => seal.open<OpenUpload>("upload", token);

  async function openParts(token: unknown) {
    const { fileId, uploadId } = await open(token);
    if (uploadId === null) throw invalid("token", "belongs to a single-request upload");
    return { fileId, uploadId };
  }

  async function run(body: Action, handling: Handling<Context>): Promise<Answer> {
    switch (body.action) {
      case "begin":
        return beginUploads(tools, body, handling);
      case "start": {
        const ticket = await seal.open<Ticket>("ticket", body.ticket);
        const start = () => startUpload(tools, ticket, body.resume);
        // A request for a new URL has an open upload, so its failure is reported when that is aborted.
        const isRenewal = body.resume !== undefined && !isInParts(ticket.file);
        return isRenewal ? start() : reportingTo(tools, ticket, start);
      }
      case "startMany": {
        const tickets = await openMany(body.tickets, "tickets", (ticket) =>
          seal.open<Ticket>("ticket", ticket),
        );
        const answers = await startUploads(tools, tickets);
        const tell = async (answer: StartAnswer | UpstowError, i: number) => {
          const ticket = tickets[i];
          if (answer instanceof UpstowError && !isRepeated(answer) && ticket !== undefined)
            await hearFailure(tools, ticket, answer);
        };
        await Promise.all(answers.map(tell));
        return toManyAnswer(answers, tools.report);
      }
      case "sign": {
        const ref = await openParts(body.token);
        return upstream(() => uploads.multipart.sign({ ...ref, partNumbers: body.partNumbers }));
      }
      case "parts": {
        const ref = await openParts(body.token);
        return { parts: (await upstream(() => uploads.multipart.list(ref))).parts };
      }
      case "complete": {
        const upload = await open(body.token);
        // A failure after this is reported when the upload is aborted.
        return completeUpload(tools, upload, body.parts, handling);
      }
      case "completeMany": {
        const uploads = await openMany(body.tokens, "tokens", open);
        return toManyAnswer(await completeUploads(tools, uploads, handling), tools.report);
      }
      case "abort": {
        const upload = await open(body.token);
        await abortUpload(tools, upload);
        if (body.failure !== undefined) await hearFailure(tools, upload, reportedFailure(body.failure));
        return { ok: true };
      }
      case "import":
        return startImport(tools, body, handling);
      case "importState":
        return answerImportState(tools, body, handling, (upload, error) => hearFailure(tools, upload, error));
      default:
        throw invalid("action", "is not supported by this handler");
    }
  }
  return { run };
}

async function abortUpload<Context>(tools: Tools<Context>, upload: OpenUpload): Promise<void> {
  const { fileId, uploadId, key } = upload;
  try {
    if (uploadId !== null) await upstream(() => tools.uploads.multipart.abort({ fileId, uploadId }));
    // The browser may not remove a completed file.
    else if ((await findFile(tools, upload))?.status === "UPLOADING") await tools.files.delete(key);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function reportingTo<Context, Result>(
  tools: Tools<Context>,
  upload: Omit<Ticket, "id">,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isRepeated(error)) await hearFailure(tools, upload, error as Error);
    throw error;
  }
}

/** Browsers retry where that may help. */
const isRepeated = (error: unknown) =>
  !(error instanceof UpstowError) || error.code === "RATE_LIMITED" || mayPass(error);

async function hearFailure<Context>(tools: Tools<Context>, upload: Omit<Ticket, "id">, error: Error) {
  const { file, metadata } = upload;
  try {
    await getRoute(tools.router, upload.route).onUploadError?.({ error, file, metadata });
  } catch (failure) {
    tools.report(failure);
  }
}

function reportedFailure(message: unknown): UpstowError {
  return new UpstowError(`The browser abandoned the upload: ${String(message).slice(0, 500)}`, {
    code: "STORAGE_REFUSED",
  });
}
