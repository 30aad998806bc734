import { FileObject, ImportUploadBody, Type } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import type { ApiApp } from "../../http/request-context.ts";
import { cdnFor } from "../../projects/file-url.ts";
import { toFile } from "../serialize.ts";
import type { Importer } from "./importer.ts";
import { requestImport } from "./request-import.ts";

export function importRoutes(app: ApiApp, deps: Deps, importer: Pick<Importer, "nudge">): void {
  app.post(
    "/upload/import",
    {
      schema: {
        tags: ["uploads"],
        summary: "Import a file from a URL",
        description:
          "The service fetches the file in the background. GET /files/{key} shows its progress; it ends as UPLOADED, with the event of every upload, or as FAILED, with a log entry and the reason in failure.",
        body: ImportUploadBody,
        response: { 202: Type.Object({ file: FileObject }) },
      },
      config: { rateWindow: "upload", errors: ["NOT_FOUND", "INVALID_FILE_TYPE", "TIER_LIMIT_EXCEEDED"] },
    },
    async (request, reply) => {
      const { actor, body, idempotency } = request;
      const cdn = cdnFor(deps.config, actor);
      const toAnswer = (file: Parameters<typeof toFile>[1]) => ({
        file: { ...toFile(cdn, file), progress: { receivedBytes: 0, totalBytes: null } },
      });
      const file = await requestImport(deps, actor, body, (tx, saved) =>
        idempotency.remember(tx, 202, toAnswer(saved)),
      );
      request.fileId = file.id;
      importer.nudge();
      return reply.code(202).send(toAnswer(file));
    },
  );
}
