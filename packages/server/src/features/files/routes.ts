import {
  BulkDeleteBody,
  BulkDeleteResult,
  ErrorEnvelope,
  FileObject,
  FilePage,
  Ok,
  PATH_PARAM_MAX,
  PageQuery,
  Type,
  UpdateFileBody,
} from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { notFound } from "../../errors.ts";
import type { ApiApp } from "../../http/api-app.ts";
import { errorBody } from "../../http/error-handler.ts";
import { endPage, startPage } from "../../http/paging.ts";
import type { Actor } from "../api-keys/actor.ts";
import { writeLog } from "../logs/write-log.ts";
import { serialiseMetadata } from "../uploads/metadata.ts";
import { deleteFiles } from "./delete-files.ts";
import { cdnFor } from "./file-url.ts";
import { nameFile } from "./name-file.ts";
import { findFile, listFiles, setMetadata } from "./queries.ts";
import { toFile, toListItem } from "./serialize.ts";
import { removeBytes } from "./storage-deletions.ts";

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
        querystring: PageQuery,
        response: { 200: FilePage },
      },
      serializerCompiler: () => JSON.stringify,
    },
    async ({ actor, query }) => {
      const page = startPage(query);
      const rows = await db.all(listFiles, { ...scopeOf(actor), ...page });
      const { shown, nextCursor, hasMore } = endPage(rows, page.take);
      const cdn = cdnFor(config, actor);
      return { files: shown.map((row) => toListItem(cdn, row)), nextCursor, hasMore };
    },
  );

  app.get(
    "/files/*",
    { schema: { tags, summary: "Get a file by its key", params: KeyParam, response: { 200: FileEnvelope } } },
    async ({ actor, params }) => {
      const file = await db.get(findFile, { ...scopeOf(actor), ...nameFile(params["*"]) });
      if (file === null) throw notFound("File");
      return { file: toFile(cdnFor(config, actor), file) };
    },
  );

  app.patch(
    "/files/*",
    {
      schema: {
        tags,
        summary: "Replace a file's metadata",
        params: KeyParam,
        body: UpdateFileBody,
        response: { 200: FileEnvelope },
      },
    },
    async ({ actor, params, body }) => {
      const metadata = serialiseMetadata(body.metadata);
      const now = deps.now();
      const file = await db.transact(async (tx) => {
        const updated = await tx.get(setMetadata, {
          ...scopeOf(actor),
          ...nameFile(params["*"]),
          metadata,
          now,
        });
        if (updated === null) throw notFound("File");
        const message = `Metadata of "${updated.name}" was replaced.`;
        await writeLog(tx, now, { ...scopeOf(actor), type: "file.updated", message, file: updated });
        return updated;
      });
      return { file: toFile(cdnFor(config, actor), file) };
    },
  );

  app.delete(
    "/files/*",
    { schema: { tags, summary: "Delete a file", params: KeyParam, response: { 200: Ok } } },
    async ({ actor, params }) => {
      const { deletions } = await db.transact((tx) =>
        deleteFiles(tx, deps.now(), scopeOf(actor), [params["*"]]),
      );
      if (deletions.length === 0) throw notFound("File");
      await removeBytes(deps, deletions);
      return { ok: true };
    },
  );

  app.delete(
    "/files",
    {
      schema: {
        tags,
        summary: "Delete up to 100 files",
        body: BulkDeleteBody,
        response: {
          200: BulkDeleteResult,
          207: BulkDeleteResult,
          404: Type.Object({ ...BulkDeleteResult.properties, ...ErrorEnvelope.properties }),
        },
      },
    },
    async ({ actor, body }, reply) => {
      const keys = [...new Set(body.keys)];
      const { deletedKeys, reclaimedBytes, deletions } = await db.transact((tx) =>
        deleteFiles(tx, deps.now(), scopeOf(actor), keys),
      );
      await removeBytes(deps, deletions);
      const missing = keys.filter((key) => !deletedKeys.has(key));
      const result = {
        deleted: deletedKeys.size,
        failed: missing.length,
        failures: missing.map((key) => ({ key, code: "NOT_FOUND", message: "File not found." })),
        reclaimedBytes,
      };
      if (missing.length === 0) return reply.send(result);
      if (deletedKeys.size > 0) return reply.code(207).send(result);
      return reply.code(404).send({ ...result, ...errorBody(notFound("These files were")) });
    },
  );
}
