import { type Environment, LIST_MAX } from "@upstow/contract";
import { statement } from "../db/statement.ts";
import type { Deps } from "../deps.ts";
import type { Actor } from "../kernel/actor.ts";

/** Clocks of instances may differ this much. */
const overlapMs = 5_000;

/**
 * What has changed since the last call about the imports that run, and those that have just failed, as server-sent
 * events without an id. Completed ones have their event.
 */
export function createImportNews(
  { db, now }: Pick<Deps, "db" | "now">,
  { projectId, environment }: Pick<Actor, "projectId" | "environment">,
): () => Promise<string> {
  let failedSince = now();
  let told = new Map<string, string>();
  return async () => {
    const lookedAt = now();
    const rows = await db.all(listMoving, { projectId, environment, failedSince });
    const texts = new Map(rows.map((row) => [row.fileId, formatNews(row)]));
    const news = [...texts].filter(([fileId, text]) => told.get(fileId) !== text);
    failedSince = Math.max(failedSince, lookedAt - overlapMs);
    told = texts;
    return news.map(([, text]) => text).join("");
  };
}

type Moving = NonNullable<(typeof listMoving)["types"]>["row"];

function formatNews({ fileId, key, receivedBytes, totalBytes, failure, message }: Moving): string {
  if (failure === null)
    return format("upload.progress", { fileId, key, progress: { receivedBytes, totalBytes } });
  return format("upload.failed", { fileId, key, failure: { reason: failure, message: message ?? "" } });
}

const format = (event: string, data: object) =>
  `event: ${event}\ndata: ${JSON.stringify({ event, ...data })}\n\n`;

interface Watched {
  projectId: string;
  environment: Environment;
  failedSince: number;
}

const listMoving = statement((q, p: Watched) =>
  q
    .selectFrom("file_import")
    .innerJoin("file", "file.id", "file_import.file_id")
    .select([
      "file.id as fileId",
      "file.key",
      "file_import.received_bytes as receivedBytes",
      "file_import.total_bytes as totalBytes",
      "file_import.failure",
      "file_import.message",
    ])
    .where("file_import.project_id", "=", p.projectId)
    .where("file.environment", "=", p.environment)
    .where((where) =>
      where.or([
        where("file_import.slot", "is not", null),
        where("file_import.failed_at", ">=", p.failedSince),
      ]),
    )
    .orderBy("file.id")
    .limit(LIST_MAX),
);
