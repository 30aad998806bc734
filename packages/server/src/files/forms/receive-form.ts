import type { IncomingMessage } from "node:http";
import { CONTENT_TYPE_MAX, CONTENT_TYPE_PATTERN, FORM_REFUSED_MAX_BYTES } from "@upstow/contract";
import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { toAppError } from "../../http/error-handler.ts";
import { AppError, bodyCutOff } from "../../kernel/errors.ts";
import { findRoute } from "../../projects/file-routes/find-route.ts";
import { objectKey } from "../../storage/storage-key.ts";
import { shortenName } from "../uploads/file-name.ts";
import { finishUpload } from "../uploads/finish-upload.ts";
import { checkHeld, checkOpen } from "../uploads/grants/grant.ts";
import { givePlacesBack } from "../uploads/grants/queries.ts";
import { abortMultipart } from "../uploads/multipart.ts";
import { describeUpload, receiveParts, TooManyBytes } from "../uploads/receive-parts.ts";
import { openArrival, type Uploader } from "../uploads/request-upload.ts";
import { sealParts } from "../uploads/seal.ts";
import { type FormFile, type FormPace, parseForm } from "./parse-form.ts";

export interface ReceivedForm {
  files: FileRow[];
  failures: { name: string; error: AppError }[];
  /** The URL to redirect the browser to, if the route allows it. */
  redirect: string | null;
}

type Holder = Uploader & { grant: NonNullable<Uploader["grant"]> };

const redirectField = "success_redirect";
const typePattern = new RegExp(CONTENT_TYPE_PATTERN);

/** Every file of the form is a separate upload; if one is rejected, the others still arrive. */
export async function receiveForm(
  deps: Deps,
  holder: Holder,
  request: IncomingMessage,
  pace?: FormPace,
): Promise<ReceivedForm> {
  checkOpen(holder.grant, deps.now());
  const files: FileRow[] = [];
  const failures: ReceivedForm["failures"] = [];
  let refusedBytes = 0;
  const length = request.headers["content-length"];
  const formBytes = length === undefined ? undefined : Number(length);

  async function receive(file: FormFile): Promise<void> {
    try {
      files.push(await uploadFile(deps, holder, file, formBytes));
    } catch (error) {
      if (!request.complete && request.destroyed) throw bodyCutOff();
      failures.push({ name: file.name, error: toAppError(error) });
      if (toAppError(error).status >= 500) deps.log.error({ err: error }, "a file of a form was not stored");
      for await (const chunk of file.stream) {
        refusedBytes += (chunk as Buffer).length;
        if (refusedBytes > FORM_REFUSED_MAX_BYTES) throw new TooMuchRefused();
      }
    }
  }

  let fields: Awaited<ReturnType<typeof parseForm>> = new Map();
  try {
    fields = await parseForm(request, receive, pace);
  } catch (error) {
    // Report the stored files, even if the rest failed.
    if (!(error instanceof TooMuchRefused) && (files.length === 0 || !(error instanceof AppError)))
      throw error;
    if (error instanceof AppError) failures.push({ name: "", error });
  }
  const wanted = fields.get(redirectField);
  return {
    files,
    failures,
    redirect: typeof wanted === "string" ? await allowed(deps, holder, wanted) : null,
  };
}

class TooMuchRefused extends Error {
  override readonly name = "TooMuchRefused";
}

async function uploadFile(
  deps: Deps,
  holder: Holder,
  file: FormFile,
  formBytes: number | undefined,
): Promise<FileRow> {
  const { actor, grant } = holder;
  const type =
    file.type.length <= CONTENT_TYPE_MAX && typePattern.test(file.type)
      ? file.type
      : "application/octet-stream";
  const { [redirectField]: _, ...metadata } = Object.fromEntries(file.fields);
  const opened = await openArrival(
    deps,
    holder,
    {
      // PostgreSQL cannot store NUL in text.
      fileName: shortenName(file.name.replaceAll("\0", "_")),
      fileSize: null,
      // Without it, two visitors at the same time would use up the quota.
      mostBytes: formBytes,
      contentType: type,
      routeSlug: "",
      metadata,
    },
    async () => {},
  );
  const uploadId = opened.upload_id ?? "";
  try {
    const store = await deps.stores.get(opened.store);
    const limitBytes = opened.size_bytes;
    const { parts, sizeBytes } = await receiveParts({
      store,
      upload: { key: objectKey(opened), uploadId },
      received: [],
      chunks: file.stream.iterator({ destroyOnReturn: false }),
      limitBytes,
      reserve: async () => {},
    }).catch((error: unknown) => {
      throw error instanceof TooManyBytes ? overLimit(limitBytes) : error;
    });
    await checkHeld(deps, grant);
    const sized = await describeUpload(deps, actor, opened, { sizeBytes, uploadId, type: opened.type });
    if (sized === null) throw bodyCutOff();
    const seal = await sealParts(deps, sized, { uploadId, parts });
    const finished = await finishUpload(deps, actor, {
      file: sized,
      grantId: grant.id,
      seal,
      metadata: null,
      onSaved: async () => {},
    });
    if (!finished.ok)
      throw new AppError("FILE_NOT_IN_STORAGE", finished.message, { suggestion: "Send it again." });
    return finished.file;
  } catch (error) {
    // Its holder may send it again.
    await abortMultipart(deps, actor, { fileId: opened.id, uploadId }, async (tx) => {
      await tx.run(givePlacesBack, { id: grant.id, count: 1 });
    }).catch(() => {});
    throw error;
  }
}

function overLimit(limitBytes: number): AppError {
  return new AppError(
    "TIER_LIMIT_EXCEEDED",
    `The file is larger than the ${limitBytes} bytes allowed here.`,
    {
      status: 413,
      suggestion: "Send a smaller file.",
    },
  );
}

/** Null unless the route lists its origin: otherwise anybody could send our visitors anywhere. */
async function allowed(deps: Deps, { grant }: Holder, wanted: string): Promise<string | null> {
  if (!URL.canParse(wanted)) return null;
  const url = new URL(wanted);
  if (url.username !== "" || url.password !== "") return null;
  const route = await findRoute(deps.db, grant.project_id, grant.route_slug ?? "");
  const origins: string[] = JSON.parse(route?.form_origins ?? "[]");
  return origins.includes(url.origin) ? url.href : null;
}
