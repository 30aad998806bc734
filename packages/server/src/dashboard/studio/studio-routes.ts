import { FILE_KEY_MAX, FIT_MODES, STUDIO_PREVIEWS, StringEnum, Type } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import type { ApiApp } from "../../http/api-app.ts";
import { signalGone } from "../../http/signal-gone.ts";
import { invalid, notFound } from "../../kernel/errors.ts";
import { maxSidePx } from "../../serving/images/recipe.ts";
import { checkMayTransform, getImage } from "../../serving/images/transform-image.ts";
import type { Transforms } from "../../serving/images/transforms.ts";
import { spend } from "../throttle.ts";

const side = Type.Optional(Type.Integer({ minimum: 1, maximum: maxSidePx }));

const StudioQuery = Type.Object({
  key: Type.String({ minLength: 1, maxLength: FILE_KEY_MAX }),
  width: side,
  height: side,
  fit: StringEnum(FIT_MODES),
  quality: Type.Integer({ minimum: 1, maximum: 100 }),
  format: StringEnum(["avif", "webp", "jpeg", "png"] as const),
});

/**
 * Shows what a variant would be. It is sent to whoever is signed in and under no address of its own, so trying
 * things out is not charged for; asking for a URL is. It is bounded instead, and comes after what readers wait for.
 */
export function studioRoutes(app: ApiApp, deps: Deps, transforms: Transforms): void {
  app.get("/studio", { schema: { querystring: StudioQuery } }, async ({ actor, query }, reply) => {
    checkMayTransform(actor);
    const { key, format, ...recipe } = query;
    if (recipe.width === undefined && recipe.height === undefined)
      throw invalid("width", "or height is required");
    const file = await getImage(deps, actor, key);
    await spend(deps, `studio:${actor.accountId}`, STUDIO_PREVIEWS.perWindow);
    const variant = await transforms.variants.get(file, { ...recipe, format }, format, {
      isPreview: true,
      signal: () => signalGone(reply.raw),
    });
    transforms.touch(variant.id);
    const bytes = await deps.store.read(variant.store_key);
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
