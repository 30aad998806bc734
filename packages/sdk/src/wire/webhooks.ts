import type { Metadata } from "./files.ts";

export type EventType = "upload.completed" | "test";
export type DeliveryStatus = "pending" | "delivered" | "dead";
export type DeliveryErrorClass =
  | "timeout"
  | "dns"
  | "refused"
  | "unreachable"
  | "tls"
  | "reset"
  | "blocked"
  | "redirect"
  | "client_error"
  | "server_error"
  | "invalid_response"
  | "interrupted"
  | "internal";

/** The body of a webhook. */
export interface EventPayload {
  file: {
    id: string;
    key: string;
    name: string;
    size: number;
    type: string;
    url: string;
    metadata: Metadata;
  };
  projectId: string;
}

export interface Delivery {
  id: string;
  /** The same in every attempt and redelivery. */
  messageId: string;
  event: EventType;
  fileId: string;
  routeSlug: string;
  url: string;
  status: DeliveryStatus;
  attemptCount: number;
  nextAttemptAt: string | null;
  createdAt: string;
}

export interface DeliveryAttempt {
  number: number;
  at: string;
  durationMs: number | null;
  statusCode: number | null;
  error: DeliveryErrorClass | null;
  response: string | null;
}

export interface DeliveryDetail extends Delivery {
  payload: EventPayload;
  attempts: DeliveryAttempt[];
}

export interface DeliveryQuery {
  limit?: number;
  cursor?: string;
  status?: DeliveryStatus;
  routeSlug?: string;
  fileId?: string;
  /** ISO 8601. */
  since?: string;
  until?: string;
}

export interface RedeliverBody {
  ids?: string[];
  filter?: { status?: DeliveryStatus; routeSlug?: string; since?: string; until?: string };
  /** Only count matches; send nothing. */
  dryRun?: boolean;
}

export interface RedeliverResult {
  matched: number;
  queued: number;
}

export interface SigningKeys {
  current: string;
  next: string;
}

/** One event in the stream. `body` is the text that is signed and delivered. */
export interface StreamedEvent {
  messageId: string;
  event: EventType;
  fileId: string;
  routeSlug: string;
  createdAt: string;
  body: string;
}
