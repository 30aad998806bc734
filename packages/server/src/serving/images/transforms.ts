import { availableParallelism } from "node:os";
import { STUDIO_PREVIEWS, VARIANTS_WAITING_MAX } from "@upstow/contract";
import type { FileTable } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { createLookAtImage, type LookAtImage } from "./look-at-image.ts";
import { listLeastUsed, setUsed, sumVariants } from "./queries.ts";
import type { Recipe } from "./recipe.ts";
import { createRenderPool } from "./render/render-pool.ts";
import { openVariantSigner } from "./variant-keys.ts";
import type { VariantSigner } from "./variant-signature.ts";
import { createVariants, type Variants } from "./variants.ts";

export interface Transforms {
  signer: VariantSigner;
  lookAtImage: LookAtImage;
  variants: Variants;
  /** Starts the render that the first reader will want; whether it succeeds shows when they ask. */
  renderAhead(file: FileTable, recipe: Recipe): void;
  touch(variantId: string): void;
  /** Writes down which variants were used. */
  flush(): Promise<void>;
  /** Removes the least recently used variants beyond `maxBytes`. */
  evict(maxBytes: number, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const megabyte = 1024 * 1024;
const evictionBatch = 200;

export async function openTransforms(deps: Deps): Promise<Transforms> {
  const pool = createRenderPool({
    // One processor stays with the service.
    size: Math.max(1, availableParallelism() - 1),
    waitingPerAccount: VARIANTS_WAITING_MAX,
    waitingInAll: 4 * VARIANTS_WAITING_MAX,
    previewsPerAccount: STUDIO_PREVIEWS,
    deadlineMs: 20_000,
    patienceMs: 5_000,
    giveUpMs: 60_000,
    maxRssBytes: 300 * megabyte,
    maxJobs: 500,
  });
  const variants = createVariants(deps, pool);
  let used = new Set<string>();

  return {
    signer: await openVariantSigner(deps),
    lookAtImage: createLookAtImage(deps),
    variants,
    renderAhead(file, recipe) {
      const format = recipe.format === "auto" ? "webp" : recipe.format;
      variants.get(file, recipe, format).catch((error: unknown) => {
        deps.log.debug({ err: error, fileId: file.id }, "a variant could not be rendered ahead");
      });
    },
    touch(variantId) {
      used.add(variantId);
    },
    async flush() {
      const batch = [...used].sort();
      used = new Set();
      const at = deps.now();
      if (batch.length === 0) return;
      await deps.db.transact(async (tx) => {
        for (const id of batch) await tx.run(setUsed, { id, at });
      });
    },
    async evict(maxBytes, signal) {
      const sum = await deps.db.get(sumVariants, {});
      let excess = (sum?.bytes ?? 0) - maxBytes;
      while (excess > 0) {
        const oldest = await deps.db.all(listLeastUsed, { take: evictionBatch });
        if (oldest.length === 0) return;
        for (const variant of oldest) {
          if (excess <= 0) return;
          // Whoever took over has made the room already.
          signal?.throwIfAborted();
          await variants.forget(variant);
          excess -= variant.size_bytes ?? 0;
        }
      }
    },
    async close() {
      await pool.close();
      await variants.settled();
    },
  };
}
