import { hash } from "node:crypto";
import type { Environment, EventPayload } from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import type { FileTable } from "../../db/schema.ts";
import { createId } from "../../ids.ts";
import { advanceSequence, insertMessage, type NewMessage, wakeEndpoint } from "./message-queries.ts";
import { RETRIES } from "./retry-schedule.ts";

export interface CompletedUpload {
  file: FileTable;
  /** Of the route at this moment; null leaves the event to the stream alone. */
  webhookUrl: string | null;
  fileUrl: string;
}

/** Part of the transaction that marks the file UPLOADED: the event exists exactly when the file does. */
export async function enqueueUploadCompleted(
  tx: Queryable,
  now: number,
  { file, webhookUrl, fileUrl }: CompletedUpload,
): Promise<void> {
  const payload: EventPayload = {
    file: {
      id: file.id,
      key: file.key,
      name: file.name,
      size: file.size_bytes,
      type: file.type,
      url: fileUrl,
      metadata: JSON.parse(file.metadata),
    },
    projectId: file.project_id,
  };
  await insertEvent(tx, {
    ...describeEvent(now, file.project_id, file.environment, payload),
    event: "upload.completed",
    route_slug: file.route_slug,
    url: webhookUrl,
    endpoint_id: webhookUrl === null ? null : endpointIdOf(file.project_id, file.environment, webhookUrl),
    state: webhookUrl === null ? "recorded" : "ready",
    retries_allowed: RETRIES,
  });
}

export function describeEvent(
  now: number,
  projectId: string,
  environment: Environment,
  payload: EventPayload,
) {
  return {
    id: createId(now),
    project_id: projectId,
    environment,
    file_id: payload.file.id,
    body: JSON.stringify(payload),
    created_at: now,
  };
}

/** The statements do not need each other's answers, so they travel together. */
export async function insertEvent(tx: Queryable, message: NewMessage): Promise<void> {
  const { project_id: projectId, environment, endpoint_id: endpointId } = message;
  await Promise.all([
    tx.run(advanceSequence, { projectId, environment }),
    tx.run(insertMessage, message),
    endpointId === null ? null : tx.run(wakeEndpoint, { id: endpointId }),
  ]);
}

/** One receiving URL of one environment; what is slow there holds up nobody else. */
export function endpointIdOf(projectId: string, environment: Environment, url: string): string {
  return hash("sha256", `${projectId}\n${environment}\n${url}`).slice(0, 32);
}
