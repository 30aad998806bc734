import {
  BulkDeleteBody,
  BulkDeleteResult,
  FileObject,
  FilePage,
  FileQuery,
  Ok,
  PATH_PARAM_MAX,
  Type,
  UpdateFileBody,
} from "@upstow/contract";
import type { Deps } from "../deps.ts";
import { type ApiApp, withAuthor } from "../http/request-context.ts";
import type { Actor } from "../kernel/actor.ts";
import { notFound } from "../kernel/errors.ts";
import { cdnFor } from "../projects/file-url.ts";
import { bulkBody, bulkResponses, bulkStatus, toFailures } from "./bulk-answer.ts";
import { deleteFilesBy } from "./delete-files.ts";
import { listFiles } from "./list-files.ts";
import { findFile } from "./queries.ts";
import { nameFile, toFile } from "./serialize.ts";
import { removeBytes } from "./storage-deletions.ts";
import { updateFile } from "./update-file.ts";

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
      const file = await db.get(findFile, { ...scopeOf(actor), ...nameFile(params["*"]) });
      if (file === null) throw notFound("File");
      request.fileId = file.id;
      return { file: toFile(cdnFor(config, actor), file) };
    },
  );

  app.patch(
    "/files/*",
    {
      schema: {
        tags,
        summary: "Rename a file, or change its metadata, access or audience",
        description: "Requires at least one field and keeps the others. Key and URL never change.",
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
      if (deletions.length === 0) throw notFound("File");
      request.fileId = files[0]?.id;
      await removeBytes(deps, deletions);
      return { ok: true };
    },
  );

  app.delete(
    "/files",
    {
      config: { errors: ["NOT_FOUND"] },
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
        deleteFilesBy(tx, withAuthor(deps, request), scopeOf(actor), keys),
      );
      await removeBytes(deps, deletions);
      const deleted = new Set(files.flatMap(({ id, key }) => [id, key]));
      const missing = keys.filter((key) => !deleted.has(key));
      const result = {
        deleted: files.length,
        failed: missing.length,
        failures: toFailures(missing),
        reclaimedBytes,
      };
      const status = bulkStatus(files.length, missing);
      return reply.code(status).send(bulkBody(status, result));
    },
  );
}
