import {
  ENVIRONMENTS,
  type Environment,
  FILE_KEY_MAX,
  FIT_MODES,
  IdParam,
  type RateWindowName,
  STUDIO_PREVIEWS,
  StringEnum,
  TransformOptions,
  Type,
} from "@upstow/contract";
import type { FastifyInstance, FastifyRequest, RouteShorthandOptions } from "fastify";
import type { Deps } from "../deps.ts";
import type { Importer } from "../files/imports/importer.ts";
import { importRoutes } from "../files/imports/routes.ts";
import { fileRoutes } from "../files/routes.ts";
import { uploadRoutes } from "../files/uploads/routes.ts";
import { honourIdempotencyKeys } from "../http/idempotency.ts";
import { type ApiApp, signalGone, typed, withAuthor } from "../http/request-context.ts";
import type { Actor } from "../kernel/actor.ts";
import { notFound } from "../kernel/errors.ts";
import { rateLimitFor } from "../projects/api-keys/rate-limit.ts";
import { apiKeyRoutes } from "../projects/api-keys/routes.ts";
import { fileRouteRoutes } from "../projects/file-routes/routes.ts";
import { logRoutes } from "../projects/logs/routes.ts";
import { usageRoutes } from "../projects/usage/routes.ts";
import { getUsageDays } from "../projects/usage/usage-days.ts";
import { maxSidePx } from "../serving/images/recipe.ts";
import { transformRoutes } from "../serving/images/routes.ts";
import { checkMayTransform, getImage, toRecipe } from "../serving/images/transform-image.ts";
import type { Transforms } from "../serving/images/transforms.ts";
import { linkRoutes } from "../serving/links/routes.ts";
import { etagOfVariant } from "../serving/stored-bytes.ts";
import { findDelivery } from "../webhooks/delivery-queries.ts";
import { messageIdOf } from "../webhooks/enqueue.ts";
import { deliveryRoutes, signingKeyRoutes } from "../webhooks/routes.ts";
import { sendTestEvent } from "../webhooks/send-test-event.ts";
import { signDelivery, urlToSign } from "../webhooks/sign-delivery.ts";
import { getKeysToSignWith } from "../webhooks/signing-keys.ts";
import { enterProject, type Role } from "./access.ts";
import { archiveRoutes } from "./files/archive-routes.ts";
import { matchingFileRoutes } from "./files/matching-routes.ts";
import { chosenFileRoutes, fileSearchRoutes } from "./files/routes.ts";
import { logSearchRoutes, logStreamRoutes } from "./logs/routes.ts";
import { spend } from "./throttle.ts";
import { deliveryRowRoutes } from "./webhooks/routes.ts";

/**
 * One environment of one project. It reuses the customer API's routes with different authorization, so that rules and
 * responses cannot drift apart.
 */
export function workspaceRoutes(
  app: FastifyInstance,
  deps: Deps,
  transforms: Transforms,
  importer: Pick<Importer, "nudge">,
): void {
  app.register(
    async (scope) => {
      scope.addHook("onRequest", async (request) => {
        request.actor = await enterProject(deps, request.session, targetOf(request), roleFor(request));
      });
      honourIdempotencyKeys(scope, deps);
      const api = undocumented(typed(scope));
      const shared = [
        apiKeyRoutes,
        fileRouteRoutes,
        fileRoutes,
        linkRoutes,
        logRoutes,
        uploadRoutes,
        usageRoutes,
      ];
      for (const addRoutes of [
        ...shared,
        deliveryRoutes,
        signingKeyRoutes,
        chosenFileRoutes,
        matchingFileRoutes,
        archiveRoutes,
      ]) {
        addRoutes(api, deps);
      }
      transformRoutes(api, deps, transforms);
      importRoutes(api, deps, importer);
      fileSearchRoutes(api, deps, transforms.signer);
      studioRoutes(api, deps, transforms);
      logStreamRoutes(api, deps);
      logSearchRoutes(api, deps);
      deliveryRowRoutes(api, deps);
      usageDayRoutes(api, deps);
      api.post("/webhooks/deliveries/:id/sign", { schema: { params: IdParam } }, async ({ actor, params }) =>
        signAgain(deps, actor, params.id),
      );
      api.get("/delivery-settings", { schema: {} }, async ({ actor }) => ({
        ownUrl: actor.cdnUrl,
        cdnUrl: deps.config.cdnUrl,
        publicUrl: deps.config.publicUrl,
        purge: deps.config.cdnPurge?.driver ?? null,
      }));
      api.get("/rate-limits", { schema: {} }, async ({ actor }) => {
        const limit = (bucket: RateWindowName) => rateLimitFor(actor, bucket, deps.config.rateLimits);
        return { upload: limit("upload"), transform: limit("transform"), other: limit("other") };
      });
      api.post("/routers/:id/test", { schema: { params: IdParam } }, async (request) => ({
        delivery: await sendTestEvent(withAuthor(deps, request), request.actor, request.params.id),
      }));
    },
    { prefix: "/in/:projectId/:environment" },
  );
}

interface WorkspaceParams {
  projectId: string;
  environment: string;
  id?: string;
}

function targetOf(request: FastifyRequest): { projectId: string; environment: Environment } {
  const { projectId, environment, id } = request.params as WorkspaceParams;
  const known = ENVIRONMENTS.find((name) => name === environment);
  // A project's routes contain its id again; here it is always the same one.
  const namesAnother = request.routeOptions.config.ownProject === true && id !== projectId;
  if (known === undefined || namesAnother) throw notFound("Project");
  return { projectId, environment: known };
}

function roleFor({ method, routeOptions }: FastifyRequest): Role {
  const isReading = method === "GET" || method === "HEAD";
  return routeOptions.config.role ?? (isReading ? "viewer" : "developer");
}

/** Only the API with keys is documented. */
function undocumented(app: ApiApp): ApiApp {
  const add = (method: "get" | "post" | "patch" | "delete") => ({
    [method]: (path: string, options: RouteShorthandOptions, handler: never) =>
      app[method](path, { ...options, schema: { ...options.schema, hide: true } }, handler),
  });
  return Object.assign(Object.create(app), add("get"), add("post"), add("patch"), add("delete"));
}

interface SignedRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** The delivery as it would be sent now, for manual testing: receivers accept it for five minutes. */
async function signAgain(deps: Deps, actor: Actor, id: string): Promise<SignedRequest> {
  const { projectId, environment } = actor;
  const delivery = await deps.db.get(findDelivery, { projectId, environment, id });
  if (delivery === null || delivery.url === null) throw notFound("Delivery");
  const { url, body, event } = delivery;
  const attempt = delivery.attempt_count + 1;
  const signed = signDelivery(
    {
      messageId: messageIdOf(id),
      attemptId: `att_${id}_${attempt}`,
      attempt,
      retried: 0,
      event,
      environment,
      routeSlug: delivery.route_slug,
      url: urlToSign(url),
      body: Buffer.from(body),
    },
    await getKeysToSignWith(deps, { projectId, environment }),
    deps.now(),
  );
  return { url, headers: { "content-type": "application/json", ...signed }, body };
}

const Query = Type.Object({ days: Type.Optional(Type.Integer({ minimum: 1, maximum: 90, default: 30 })) });

function usageDayRoutes(app: ApiApp, deps: Deps): void {
  app.get("/usage/days", { schema: { querystring: Query } }, async ({ actor, query }) => ({
    days: await getUsageDays(deps, actor, query.days ?? 30),
  }));
}

const side = Type.Optional(Type.Integer({ minimum: 1, maximum: maxSidePx }));

const StudioQuery = Type.Object({
  key: Type.String({ minLength: 1, maxLength: FILE_KEY_MAX }),
  width: side,
  height: side,
  fit: StringEnum(FIT_MODES),
  quality: Type.Integer({ minimum: 1, maximum: 100 }),
  format: StringEnum(["avif", "webp", "jpeg", "png"] as const),
  gravity: TransformOptions.properties.gravity,
  background: TransformOptions.properties.background,
  blur: TransformOptions.properties.blur,
  rotate: TransformOptions.properties.rotate,
});

/**
 * Previews a variant. It is sent only to the signed-in account and has no URL, so previews are free; requesting a URL
 * is not. Previews are limited instead, and have lower priority than variants that readers wait for.
 */
function studioRoutes(app: ApiApp, deps: Deps, transforms: Transforms): void {
  app.get("/studio", { schema: { querystring: StudioQuery } }, async ({ actor, query }, reply) => {
    checkMayTransform(actor);
    const { key, format, ...options } = query;
    const recipe = toRecipe(options);
    const file = await getImage(deps, actor, key);
    await spend(deps, `studio:${actor.accountId}`, STUDIO_PREVIEWS.perWindow);
    const variant = await transforms.variants.get(file, { ...recipe, format }, format, {
      isPreview: true,
      signal: () => signalGone(reply.raw),
    });
    transforms.touch(variant.id);
    const bytes = await deps.store.read(variant.store_key, { etag: etagOfVariant(variant) });
    if (bytes === null) {
      await transforms.variants.forget(variant);
      throw notFound("Variant");
    }
    return reply
      .type(variant.content_type ?? "application/octet-stream")
      .headers({ "cross-origin-resource-policy": "same-origin" })
      .send(bytes);
  });
}
