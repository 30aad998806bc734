import type { Static } from "typebox";
import { ID_MAX, SLUG_MAX } from "../limits.ts";
import Type from "../type.ts";
import { Metadata } from "./files.ts";
import { Moment, NullableInteger, NullableString, Page, PageQuery, StringEnum, Timestamp } from "./shared.ts";

export const DELIVERY_STATUSES = ["pending", "delivered", "dead"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Why an attempt failed. `interrupted` means that the service stopped before it could record the outcome. */
export const DELIVERY_ERRORS = [
  "timeout",
  "dns",
  "refused",
  "unreachable",
  "tls",
  "reset",
  "blocked",
  "redirect",
  "client_error",
  "server_error",
  "invalid_response",
  "interrupted",
  "internal",
] as const;
export type DeliveryErrorClass = (typeof DELIVERY_ERRORS)[number];

/** `test` is sent by a file route's test call; its payload looks like a real one. */
export const EVENT_TYPES = ["upload.completed", "test"] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const REDELIVER_MAX_IDS = 100;
export const EVENT_REPLAY_MAX = 1_000;

const eventFile = Type.Object({
  id: Type.String(),
  key: Type.String(),
  name: Type.String(),
  size: Type.Integer(),
  type: Type.String(),
  url: Type.String(),
  metadata: Metadata,
});
export const EventPayload = Type.Object({ file: eventFile, projectId: Type.String() });

export const Delivery = Type.Object({
  id: Type.String(),
  messageId: Type.String({ description: "the same in every attempt and redelivery" }),
  event: StringEnum(EVENT_TYPES),
  fileId: Type.String(),
  routeSlug: Type.String(),
  url: Type.String(),
  status: StringEnum(DELIVERY_STATUSES),
  attemptCount: Type.Integer(),
  nextAttemptAt: NullableString,
  createdAt: Timestamp,
});

export const DeliveryAttempt = Type.Object({
  number: Type.Integer(),
  at: Timestamp,
  durationMs: Type.Unsafe<number | null>({
    type: ["integer", "null"],
    description: "null while the attempt is running or if it was interrupted",
  }),
  statusCode: NullableInteger,
  error: Type.Unsafe<DeliveryErrorClass | null>({
    type: ["string", "null"],
    enum: [...DELIVERY_ERRORS, null],
    description: "null on success",
  }),
  response: Type.Unsafe<string | null>({
    type: ["string", "null"],
    description: "the first 16 KiB of the response body",
  }),
});

export const DeliveryDetail = Type.Object({
  ...Delivery.properties,
  payload: EventPayload,
  attempts: Type.Array(DeliveryAttempt, { description: "the latest 100, oldest first" }),
});

const slug = Type.String({ minLength: 1, maxLength: SLUG_MAX });

export const DeliveryQuery = Type.Object({
  ...PageQuery.properties,
  status: Type.Optional(StringEnum(DELIVERY_STATUSES)),
  routeSlug: Type.Optional(slug),
  fileId: Type.Optional(Type.String({ minLength: 1, maxLength: ID_MAX })),
  since: Type.Optional(Moment),
  until: Type.Optional(Moment),
});
export const DeliveryPage = Page("deliveries", Delivery);

const redeliverFilter = Type.Object({
  status: Type.Optional(StringEnum(DELIVERY_STATUSES)),
  routeSlug: Type.Optional(slug),
  since: Type.Optional(Moment),
  until: Type.Optional(Moment),
});
export const RedeliverBody = Type.Object({
  ids: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: ID_MAX }), {
      minItems: 1,
      maxItems: REDELIVER_MAX_IDS,
    }),
  ),
  filter: Type.Optional(redeliverFilter),
  dryRun: Type.Optional(Type.Boolean({ description: "only count matches; send nothing" })),
});
export const RedeliverResult = Type.Object({
  matched: Type.Integer(),
  queued: Type.Integer({
    description: "0 on a dry run; deliveries being sent right now are queued again afterwards",
  }),
});

export const SigningKeys = Type.Object({
  current: Type.String({ description: "whsec_… signs now" }),
  next: Type.String({ description: "whsec_… signs after the next rotation" }),
});
export const RotateKeysBody = Type.Object({
  force: Type.Optional(Type.Boolean({ description: "rotate again within 24 hours of the last rotation" })),
});

export const EventStreamQuery = Type.Object({
  last: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: EVENT_REPLAY_MAX,
      description: "start with this many past events; Last-Event-ID takes precedence if sent",
    }),
  ),
});

/** The `data` of one event in the stream. `body` is the text that is signed and delivered. */
export const StreamedEvent = Type.Object({
  messageId: Type.String(),
  event: StringEnum(EVENT_TYPES),
  fileId: Type.String(),
  routeSlug: Type.String(),
  createdAt: Timestamp,
  body: Type.String(),
});

export type EventPayload = Static<typeof EventPayload>;
export type Delivery = Static<typeof Delivery>;
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;
export type DeliveryDetail = Static<typeof DeliveryDetail>;
export type DeliveryQuery = Static<typeof DeliveryQuery>;
export type RedeliverBody = Static<typeof RedeliverBody>;
export type RedeliverResult = Static<typeof RedeliverResult>;
export type SigningKeys = Static<typeof SigningKeys>;
export type StreamedEvent = Static<typeof StreamedEvent>;
