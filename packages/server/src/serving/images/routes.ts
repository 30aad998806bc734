import { TransformedImage, TransformImageBody } from "@upstow/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { VariantRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { endOf } from "../../files/life.ts";
import { type ApiApp, signalGone } from "../../http/request-context.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { findRevocationMark } from "../links/queries.ts";
import { isPurgeable, recallServedFile, type ServedFile } from "../queries.ts";
import { type ServedObject, sendObject } from "../send-object.ts";
import { etagOfVariant } from "../stored-bytes.ts";
import { checkIsImage } from "./look-at-image.ts";
import { createPublicVariants, notListed } from "./public-variants.ts";
import { negotiateFormat, parseRecipe, type Recipe } from "./recipe.ts";
import { checkMayTransform, repeatTransform, transformImage } from "./transform-image.ts";
import type { Transforms } from "./transforms.ts";
import { readExpiry } from "./variant-signature.ts";

export function transformRoutes(app: ApiApp, deps: Deps, transforms: Transforms): void {
  app.post(
    "/transforms/image",
    {
      onRequest: async ({ actor }) => checkMayTransform(actor),
      schema: {
        tags: ["transforms"],
        summary: "Get the URL of an image variant",
        body: TransformImageBody,
        response: { 200: TransformedImage },
      },
      config: {
        rateWindow: "transform",
        errors: [
          "IMAGE_TRANSFORMS_REQUIRE_PAID_PLAN",
          "IMAGE_TRANSFORMS_REQUIRE_LIVE_KEY",
          "NOT_FOUND",
          "UNSUPPORTED_TRANSFORM_TYPE",
          "IMAGE_TRANSFORM_LIMIT_EXCEEDED",
          "FILE_DAMAGED",
        ],
        replay: ({ actor, body }, first) =>
          repeatTransform(
            deps,
            transforms.signer,
            actor,
            body as TransformImageBody,
            first as TransformedImage["usage"],
          ),
      },
    },
    async ({ actor, body, idempotency }) => {
      const { file, recipe, answer } = await transformImage(deps, transforms, actor, body, (tx, { usage }) =>
        idempotency.remember(tx, 200, usage),
      );
      transforms.renderAhead(file, recipe);
      return answer;
    },
  );
}

const longestRefusalSec = 60;

interface VariantPath {
  Params: { expires?: string; signature: string; recipe: string; "*": string };
}

/** Variants at their CDN URL: of signed ones nothing is looked up before the signature is verified. */
export function variantServingRoutes(app: FastifyInstance, deps: Deps, transforms: Transforms): void {
  const options = { schema: { hide: true }, config: { customDomain: "own-files", signedUrl: true } } as const;
  const publicVariants = createPublicVariants(deps);

  app.get<VariantPath>("/p/:signature/:recipe/*", options, async (request, reply) => {
    const { signature, recipe, "*": key } = request.params;
    return send(request, reply, transforms.signer.verifyPublic({ signature, recipe, key }));
  });

  app.get<VariantPath>("/t/:expires/:signature/:recipe/*", options, async (request, reply) => {
    const { expires = "", signature, recipe, "*": key } = request.params;
    const nowSec = deps.now() / 1000;
    return send(
      request,
      reply,
      transforms.signer.verifyExpiring({ signature, expires, recipe, key }, nowSec),
    );
  });

  app.get<VariantPath>(
    "/i/:recipe/*",
    { schema: { hide: true }, config: { customDomain: "own-files" } },
    async (request, reply) => {
      const { recipe: text, "*": key } = request.params;
      // Also on errors, as long as caches can tell from the URL.
      const given = parseRecipe(text);
      if (given?.format === "auto") reply.header("vary", "Accept");
      if (endsInSlash(request.url)) throw notListed();
      return answer(request, reply, async () => {
        const { file, recipe, isNamed } = await publicVariants.find(given ?? text, key);
        if (isNamed && recipe.format === "auto") reply.header("vary", "Accept");
        return { file, recipe, isLasting: !isNamed, count: () => publicVariants.count(file) };
      });
    },
  );

  // A URL with missing parts counts as edited.
  for (const path of ["/p/*", "/t/*"]) {
    app.get(path, options, async () => {
      throw badSignature();
    });
  }

  async function send(request: FastifyRequest<VariantPath>, reply: FastifyReply, isSigned: boolean) {
    const { recipe: text, expires, "*": key } = request.params;
    const recipe = parseRecipe(text);
    if (recipe?.format === "auto") reply.header("vary", "Accept");
    if (!isSigned || recipe === null || endsInSlash(request.url)) throw badSignature();
    return answer(request, reply, async () => {
      const file = await recallServedFile(deps, key);
      if (file === null) throw notFound("File");
      if (file.access === "private") await checkMayRead(file, expires);
      return { file, recipe, isLasting: expires === undefined };
    });
  }

  async function answer(request: FastifyRequest<VariantPath>, reply: FastifyReply, find: FindWanted) {
    try {
      return await sendVariant(request, reply, find);
    } catch (error) {
      // Set on the reply, because all who waited for one render share the same error object.
      reply.header("access-control-allow-origin", "*");
      if (error instanceof AppError && [404, 415, 422].includes(error.status)) {
        reply.header("cache-control", `public, max-age=${getRefusalSec(request.params.expires)}`);
      }
      throw error;
    }
  }

  /** How long a cache may keep an error: never longer than the URL is valid. */
  function getRefusalSec(expires: string | undefined): number {
    if (expires === undefined) return longestRefusalSec;
    return Math.min(longestRefusalSec, Math.max(0, Math.floor(readExpiry(expires).sec - deps.now() / 1000)));
  }

  /** URLs from before the file was made private get 404; revoked ones are rejected like edited ones. */
  async function checkMayRead(file: ServedFile, expires = ""): Promise<void> {
    const { mark } = readExpiry(expires);
    if (mark === null) throw notFound("File");
    if (mark !== (await findRevocationMark(deps, file))) throw badSignature();
  }

  async function sendVariant(
    request: FastifyRequest<VariantPath>,
    reply: FastifyReply,
    find: FindWanted,
    mayRenderAnew = true,
  ): Promise<FastifyReply> {
    const { file, recipe, isLasting, count } = await find();
    checkIsImage(file.type, deps.imageTypes);
    const format = recipe.format === "auto" ? negotiateFormat(request.headers.accept) : recipe.format;
    const variant = await transforms.variants.get(file, recipe, format, {
      signal: () => signalGone(reply.raw),
    });
    await count?.();
    transforms.touch(variant.id);
    const isPlainAddress = isLasting && recipe.format !== "auto";
    const object = toServed(file, variant, isPlainAddress);
    try {
      return (await sendObject(deps, request, reply, object)) ?? reply;
    } catch (error) {
      if (!(error instanceof AppError && error.status === 404)) throw error;
      // The row existed but its bytes did not: damaged, or just evicted.
      await transforms.variants.forget(variant);
      if (!mayRenderAnew) throw error;
      return sendVariant(request, reply, find, false);
    }
  }
}

interface WantedVariant {
  file: ServedFile;
  recipe: Recipe;
  /** The URL permanently identifies this recipe. */
  isLasting: boolean;
  /** Called before each use that may count. */
  count?: () => Promise<void>;
}

/** Throws the reader's error. */
type FindWanted = () => Promise<WantedVariant>;

/** The router accepts a trailing slash; a signature does not. */
function endsInSlash(url: string): boolean {
  const query = url.indexOf("?");
  return url.at(query === -1 ? -1 : query - 1) === "/";
}

function badSignature(): AppError {
  return new AppError("FORBIDDEN", "Invalid URL signature, or the URL has expired.", {
    suggestion: "Get the URL from POST /api/v1/transforms/image and use it unchanged.",
    headers: { "cache-control": "no-store", "access-control-allow-origin": "*" },
  });
}

const kept = new WeakMap<VariantRow, { file: ServedFile; object: ServedObject }>();

/**
 * A variant as it is served: the same object for the same rows, which the database may return repeatedly. A URL that
 * expires, or whose format depends on the client, has other headers and is built each time.
 */
function toServed(file: ServedFile, variant: VariantRow, isPlainAddress: boolean): ServedObject {
  if (!isPlainAddress) return createServed(file, variant, false);
  const known = kept.get(variant);
  if (known?.file === file) return known.object;
  const object = createServed(file, variant, true);
  kept.set(variant, { file, object });
  return object;
}

function createServed(file: ServedFile, variant: VariantRow, isPlainAddress: boolean): ServedObject {
  return {
    fileId: file.id,
    privacy: file.access,
    isLasting: isPlainAddress,
    endsAtMs: endOf(file),
    mayBeShared: isPlainAddress && isPurgeable(file),
    isVariant: true,
    store: variant.store,
    storeKey: variant.store_key,
    storeEtag: etagOfVariant(variant),
    sizeBytes: variant.size_bytes ?? 0,
    etag: variant.etag ?? "",
    modifiedMs: variant.ready_at ?? 0,
    contentType: variant.content_type ?? "application/octet-stream",
    fileName: variantName(file.name, variant.content_type),
    projectId: file.project_id,
    environment: file.environment,
  };
}

/** "photo.png" served as WebP is saved as "photo.webp". */
function variantName(fileName: string, contentType: string | null): string {
  const extension = (contentType ?? "").replace("image/", "").replace("jpeg", "jpg");
  return `${fileName.replace(/\.[^.]*$/, "")}.${extension}`;
}
