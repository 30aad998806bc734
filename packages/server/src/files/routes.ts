import {
  BulkDeleteBody,
  BulkDeleteResult,
  ClaimedFiles,
  FileKeysBody,
  FileObject,
  FilePage,
  FileQuery,
  Ok,
  PATH_PARAM_MAX,
  RestoredFiles,
  Type,
  UpdateFileBody,
} from "@upstow/contract";
import type { Queryable } from "../db/database.ts";
import type { Deps } from "../deps.ts";
import type { Idempotency } from "../http/idempotency.ts";
import { type ApiApp, withAuthor } from "../http/request-context.ts";
import type { Actor } from "../kernel/actor.ts";
import { notFound } from "../kernel/errors.ts";
import { cdnFor } from "../projects/file-url.ts";
import { deleteFilesBy } from "./delete-files.ts";
import { findImport } from "./imports/queries.ts";
import { listFiles } from "./list-files.ts";
import { findFile } from "./queries.ts";
import {
  bulkBody,
  bulkResponses,
  bulkStatus,
  listMissing,
  nameFile,
  toFailures,
  toFile,
  toImportedFile,
} from "./serialize.ts";
import { removeBytes } from "./storage-deletions.ts";
import { restoreFiles } from "./trash.ts";
import { claimFiles, updateFile } from "./update-file.ts";

const tags = ["files"];
const KeyParam = Type.Object({ "*": Type.String({ minLength: 1, maxLength: PATH_PARAM_MAX }) });
const FileEnvelope = Type.Object({ file: FileObject });

export function fileRoutes(app: ApiApp, deps: Deps): void {
  const { config, db } = deps;
  const scopeOf = ({ projectId, environment }: Actor) => ({ projectId, environment });

  app.get(
    "/files",
    {
      schema: {
        tags,
        summary: "List files, newest first",
        description:
          "Filters combine. A filtered page can be short or empty and still have hasMore: true; continue with nextCursor.",
        querystring: FileQuery,
        response: { 200: FilePage },
      },
    },
    async ({ actor, query }, reply) =>
      reply.type("application/json; charset=utf-8").send((await listFiles(deps, actor, query)) as never),
  );

  app.get(
    "/files/*",
    {
      schema: {
        tags,
        summary: "Get a file by its key or id",
        params: KeyParam,
        response: { 200: FileEnvelope },
      },
    },
    async (request) => {
      const { actor, params } = request;
      const file = await db.get(findFile, { ...scopeOf(actor), ...nameFile(params["*"]), now: deps.now() });
      if (file === null) throw notFound("File");
      request.fileId = file.id;
      const isOpen = file.status === "UPLOADING" || file.status === "FAILED";
      const found = isOpen ? await db.get(findImport, { fileId: file.id }) : null;
      return { file: toImportedFile(cdnFor(config, actor), file, found) };
    },
  );

  app.patch(
    "/files/*",
    {
      schema: {
        tags,
        summary: "Rename a file, or change its metadata, access, audience, expiry or focus",
        description: "Requires at least one field; the others stay unchanged. Key and URL never change.",
        params: KeyParam,
        body: UpdateFileBody,
        response: { 200: FileEnvelope },
      },
    },
    async (request) => {
      const { actor, params, body } = request;
      const file = await updateFile(withAuthor(deps, request), actor, params["*"], body);
      request.fileId = file.id;
      return { file: toFile(cdnFor(config, actor), file) };
    },
  );

  app.delete(
    "/files/*",
    { schema: { tags, summary: "Delete a file", params: KeyParam, response: { 200: Ok } } },
    async (request) => {
      const { actor, params } = request;
      const { deletions, files } = await db.transact((tx) =>
        deleteFilesBy(tx, withAuthor(deps, request), scopeOf(actor), [params["*"]]),
      );
      if (files.length === 0) throw notFound("File");
      request.fileId = files[0]?.id;
      await removeBytes(deps, deletions);
      return { ok: true };
    },
  );

  app.post(
    "/files/claim",
    {
      config: { errors: ["NOT_FOUND"], isLarge: true },
      schema: {
        tags,
        summary: "Claim up to 100 files, by key or id, that would be deleted otherwise",
        body: FileKeysBody,
        response: bulkResponses(ClaimedFiles),
      },
    },
    async (request, reply) => {
      const { actor, body, idempotency } = request;
      const keys = [...new Set(body.keys)];
      const toAnswer = (claimed: FoundFiles) => answerFor(keys, claimed, { claimed: claimed.length });
      const files = await claimFiles(withAuthor(deps, request), actor, keys, (tx, claimed) =>
        remember(tx, idempotency, toAnswer(claimed)),
      );
      const { status, result } = toAnswer(files);
      return reply.code(status).send(bulkBody(status, result));
    },
  );

  app.post(
    "/files/restore",
    {
      config: { errors: ["NOT_FOUND"], isLarge: true },
      schema: {
        tags,
        summary: "Restore up to 100 files from the trash, by key or id",
        body: FileKeysBody,
        response: bulkResponses(RestoredFiles),
      },
    },
    async (request, reply) => {
      const { actor, body, idempotency } = request;
      const keys = [...new Set(body.keys)];
      const toAnswer = (restored: FoundFiles) => answerFor(keys, restored, { restored: restored.length });
      const files = await restoreFiles(withAuthor(deps, request), actor, keys, (tx, restored) =>
        remember(tx, idempotency, toAnswer(restored)),
      );
      const { status, result } = toAnswer(files);
      return reply.code(status).send(bulkBody(status, result));
    },
  );

  app.delete(
    "/files",
    {
      config: { errors: ["NOT_FOUND"], isLarge: true },
      schema: {
        tags,
        summary: "Delete up to 100 files, by key or id",
        body: BulkDeleteBody,
        response: bulkResponses(BulkDeleteResult),
      },
    },
    async (request, reply) => {
      const { actor, body } = request;
      const keys = [...new Set(body.keys)];
      const { files, reclaimedBytes, deletions } = await db.transact((tx) =>
        deleteFilesBy(tx, withAuthor(deps, request), scopeOf(actor), keys, { purge: body.purge }),
      );
      await removeBytes(deps, deletions);
      const { status, result } = answerFor(keys, files, { deleted: files.length, reclaimedBytes });
      return reply.code(status).send(bulkBody(status, result));
    },
  );
}

type FoundFiles = { id: string; key: string }[];

function answerFor<Count extends object>(keys: string[], files: FoundFiles, count: Count) {
  const missing = listMissing(keys, files);
  const result = { ...count, failed: missing.length, failures: toFailures(missing) };
  return { status: bulkStatus(files.length, missing), result };
}

/** A call that found nothing changed nothing, so it may be repeated. */
async function remember(
  tx: Queryable,
  idempotency: Idempotency,
  { status, result }: ReturnType<typeof answerFor>,
): Promise<void> {
  if (status !== 404) await idempotency.remember(tx, status, result);
}
