import {
  Delivery,
  DeliveryDetail,
  DeliveryPage,
  DeliveryQuery,
  IdParam,
  RedeliverBody,
  RedeliverResult,
  RotateKeysBody,
  SigningKeys,
  Type,
} from "@upstow/contract";
import type { Queryable } from "../db/database.ts";
import type { Deps } from "../deps.ts";
import { type ApiApp, withAuthor } from "../http/request-context.ts";
import { record } from "../projects/audit/record.ts";
import { getDelivery, listOwnDeliveries } from "./deliveries.ts";
import { eventStreamRoute } from "./event-stream.ts";
import { redeliverMany, redeliverOne } from "./redeliver.ts";
import { sendTestEvent } from "./send-test-event.ts";
import { getSigningKeys, rotateSigningKeys } from "./signing-keys.ts";

const tags = ["webhooks"];
const DetailEnvelope = Type.Object({ delivery: DeliveryDetail });

export function webhookRoutes(app: ApiApp, deps: Deps): void {
  deliveryRoutes(app, deps);
  signingKeyRoutes(app, deps);
  testEventRoute(app, deps);
  eventStreamRoute(app, deps);
}

export function testEventRoute(app: ApiApp, deps: Deps): void {
  app.post(
    "/routers/:id/test",
    {
      schema: {
        tags,
        summary: "Send a signed test event to the route's webhook and show its response",
        params: IdParam,
        response: { 200: DetailEnvelope },
      },
    },
    async (request) => ({
      delivery: await sendTestEvent(withAuthor(deps, request), request.actor, request.params.id),
    }),
  );
}

export function deliveryRoutes(app: ApiApp, deps: Deps): void {
  app.get(
    "/webhooks/deliveries",
    {
      schema: {
        tags,
        summary: "List webhook deliveries, newest first",
        querystring: DeliveryQuery,
        response: { 200: DeliveryPage },
      },
    },
    async ({ actor, query }) => listOwnDeliveries(deps, actor, query),
  );

  app.get(
    "/webhooks/deliveries/:id",
    {
      schema: {
        tags,
        summary: "Get a delivery with its payload and attempts",
        params: IdParam,
        response: { 200: DetailEnvelope },
      },
    },
    async ({ actor, params }) => ({ delivery: await getDelivery(deps, actor, params.id) }),
  );
  redeliveryRoutes(app, deps);
}

function redeliveryRoutes(app: ApiApp, deps: Deps): void {
  app.post(
    "/webhooks/deliveries/:id/redeliver",
    {
      config: {
        // Version 0.1 stored that it had responded, but not the response.
        replay: async ({ actor, params }, stored) =>
          "delivery" in (stored as object)
            ? stored
            : { delivery: await getDelivery(deps, actor, (params as { id: string }).id) },
      },
      schema: {
        tags,
        summary: "Resend a delivery, with all its retries",
        params: IdParam,
        response: { 200: Type.Object({ delivery: Delivery }) },
      },
    },
    async (request) => {
      const { actor, params, idempotency } = request;
      const own = withAuthor(deps, request);
      const remember = (tx: Queryable, delivery: Delivery) => idempotency.remember(tx, 200, { delivery });
      return { delivery: await redeliverOne(own, actor, params.id, remember) };
    },
  );

  app.post(
    "/webhooks/deliveries/redeliver",
    {
      schema: {
        tags,
        summary: "Resend many deliveries, by id or by filter",
        body: RedeliverBody,
        response: { 200: RedeliverResult },
      },
    },
    async (request) => {
      const { actor, body, idempotency } = request;
      return redeliverMany(withAuthor(deps, request), actor, body, idempotency.hold);
    },
  );
}

export function signingKeyRoutes(app: ApiApp, deps: Deps): void {
  app.get(
    "/webhooks/signing-keys",
    {
      // Permission to view a project does not include its signing keys.
      config: { role: "developer" },
      schema: { tags, summary: "Get the keys that sign deliveries", response: { 200: SigningKeys } },
    },
    async ({ actor }) => getSigningKeys(deps, ownerOf(actor)),
  );

  app.post(
    "/webhooks/signing-keys/rotate",
    {
      config: {
        errorStatuses: { 409: "VALIDATION_ERROR" },
        // Keys are never stored for repeated calls, which return the current ones.
        replay: ({ actor }) => getSigningKeys(deps, ownerOf(actor)),
      },
      schema: {
        tags,
        summary: "Make the next key current and create a new next key",
        body: Type.Union([RotateKeysBody, Type.Null()]),
        response: { 200: SigningKeys },
      },
    },
    async ({ actor, author, body, idempotency }) =>
      rotateSigningKeys(deps, ownerOf(actor), {
        force: body?.force ?? false,
        async onRotated(tx) {
          const { projectId, environment } = actor;
          await record(tx, deps.now(), author, {
            action: "signing-keys.rotated",
            target: { kind: "environment", id: environment },
            projectId,
          });
          await idempotency.remember(tx, 200, {});
        },
      }),
  );
}

function ownerOf({ projectId, environment }: { projectId: string; environment: "live" | "test" }) {
  return { projectId, environment };
}
