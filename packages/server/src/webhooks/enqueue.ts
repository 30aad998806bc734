import { hash } from "node:crypto";
import type { Environment, EventPayload } from "@upstow/contract";
import type { Queryable } from "../db/database.ts";
import { gatherLast } from "../db/lanes.ts";
import type { FileRow } from "../db/schema.ts";
import { createId } from "../kernel/ids.ts";
import {
  advanceSequence,
  insertMessage,
  insertMessages,
  type NewMessage,
  packedMessages,
  wakeEndpoint,
} from "./delivery-queries.ts";

export interface CompletedUpload {
  file: FileRow;
  /** The route's current URL; with null, the event goes to the stream only. */
  webhookUrl: string | null;
  fileUrl: string;
}

/** Part of the transaction that marks the file UPLOADED: the event exists exactly when the file does. */
export function enqueueUploadCompleted(
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
  return gatherEvents(tx, `${file.project_id} ${file.environment}`, [
    {
      ...describeEvent(now, file.project_id, file.environment, payload),
      event: "upload.completed",
      route_slug: file.route_slug,
      url: webhookUrl,
      endpoint_id: webhookUrl === null ? null : endpointIdOf(file.project_id, file.environment, webhookUrl),
      state: webhookUrl === null ? "recorded" : "ready",
      retries_allowed: RETRIES,
    },
  ]);
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

/** Events that share a transaction are numbered by one change of their sequence, which all instances share. */
const gatherEvents = gatherLast<NewMessage[]>((messages, more) => {
  messages.push(...more);
}, insertEvents);

/** Messages of one environment. */
export async function insertEvents(tx: Queryable, messages: NewMessage[]): Promise<void> {
  const [first] = messages;
  if (first === undefined) return;
  const { project_id: projectId, environment } = first;
  const count = messages.length;
  const endpoints = new Set(messages.flatMap((message) => message.endpoint_id ?? []));
  const numbered = messages.map((message, i) => ({ ...message, from_last: count - 1 - i }));
  // The statements are independent, so they are sent together.
  await Promise.all([
    tx.run(advanceSequence, { projectId, environment, count }),
    ...(tx.dialect === "postgres"
      ? [tx.run(insertMessages, { projectId, environment, rows: packedMessages.pack(numbered) })]
      : numbered.map((message) => tx.run(insertMessage, message))),
    ...[...endpoints].sort().map((id) => tx.run(wakeEndpoint, { id })),
  ]);
}

/** One receiving URL of one environment; a slow one does not block others. */
export function endpointIdOf(projectId: string, environment: Environment, url: string): string {
  return hash("sha256", `${projectId}\n${environment}\n${url}`).slice(0, 32);
}

/** The message's id for receivers, the same in every attempt and redelivery. */
export function messageIdOf(id: string): string {
  return `msg_${id}`;
}

/** 12 s, 148 s and 1,808 s at the default base. */
const retryFactors = [1, 148 / 12, 1808 / 12];
const jitter = 0.2;
const retryAfterMaxMs = 3_600_000;

export const RETRIES = retryFactors.length;

interface RetryRequest {
  /** Retries already made. */
  retried: number;
  allowed: number;
  baseMs: number;
  retryAfterMs: number | null;
  /** From 0 to 1. */
  random: number;
}

/** How long to wait before the next attempt, or null when there is none left. */
export function retryDelayMs(request: RetryRequest): number | null {
  const factor = retryFactors[request.retried];
  if (factor === undefined || request.retried >= request.allowed) return null;
  const spread = 1 - jitter + 2 * jitter * request.random;
  const scheduledMs = Math.round(request.baseMs * factor * spread);
  // A shorter delay than scheduled would only use up the retries sooner.
  return Math.max(scheduledMs, Math.min(request.retryAfterMs ?? 0, retryAfterMaxMs));
}

/** Seconds or an HTTP date; anything else is ignored. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = /^[A-Z][a-z]{2}, /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
