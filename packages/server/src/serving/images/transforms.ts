import { createHash, createSecretKey, type KeyObject } from "node:crypto";
import { availableParallelism } from "node:os";
import { STUDIO_PREVIEWS, VARIANTS_WAITING_MAX } from "@upstow/contract";
import { inSteps } from "../../db/job-leases.ts";
import type { FileRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { unlessReadOnly } from "../../http/read-only.ts";
import { describeImages } from "./describe-images.ts";
import { createLookAtImage, type LookAtImage } from "./look-at-image.ts";
import {
  forgetFailed,
  listLargestShares,
  listLeastUsedOf,
  listPublicKeys,
  savePublicKey,
  setUsed,
  sumVariants,
} from "./queries.ts";
import type { Recipe } from "./recipe.ts";
import { createRenderPool } from "./render/render-pool.ts";
import { createVariantSigner, type VariantSigner } from "./variant-signature.ts";
import { createVariants, type Variants } from "./variants.ts";

export interface Transforms {
  signer: VariantSigner;
  lookAtImage: LookAtImage;
  variants: Variants;
  /** Starts the render that the first reader will want; errors surface when they request it. */
  renderAhead(file: FileRow, recipe: Recipe): void;
  touch(variantId: string): void;
  /** Finds the facts of images that are due. */
  describeImages(signal: AbortSignal): Promise<void>;
  /** Saves which variants were used. */
  flush(): Promise<void>;
  /**
   * Frees space beyond `maxBytes`. The account that uses the most loses its least recently used variants, so readers of
   * one account's images, who may request any number of variants, don't evict other accounts'.
   */
  evict(maxBytes: number, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const megabyte = 1024 * 1024;
const evictionBatch = 200;

export async function openTransforms(deps: Deps, patienceMs = 5_000): Promise<Transforms> {
  const pool = createRenderPool({
    // One CPU is left to the service.
    size: Math.max(1, availableParallelism() - 1),
    waitingPerAccount: VARIANTS_WAITING_MAX,
    waitingInAll: 4 * VARIANTS_WAITING_MAX,
    previewsPerAccount: STUDIO_PREVIEWS,
    deadlineMs: 20_000,
    patienceMs,
    giveUpMs: 60_000,
    maxRssBytes: 300 * megabyte,
    maxJobs: 500,
    tools: deps.tools,
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
    describeImages: (signal) => describeImages(deps, pool, signal),
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
      await inSteps((take) => deps.db.run(forgetFailed, { take }), signal);
      let excess = ((await deps.db.get(sumVariants, {}))?.bytes ?? 0) - maxBytes;
      while (excess > 0) {
        const [largest, next] = await deps.db.all(listLargestShares, { take: 2 });
        if (largest === undefined) return;
        // Down to the next largest, from where on both take turns.
        let toTake = Math.min(excess, Math.max(1, largest.bytes - (next?.bytes ?? 0)));
        const account = largest.account_id;
        for (const variant of await deps.db.all(listLeastUsedOf, { account, take: evictionBatch })) {
          if (toTake <= 0) break;
          // Another instance took over and has already made room.
          signal?.throwIfAborted();
          await variants.forget(variant);
          toTake -= variant.size_bytes ?? 0;
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

const purpose = "public variant key";

/**
 * Public URLs never expire, so a key that signed one is kept forever: in the database, sealed with the installation's
 * current secret, even after the secret it was derived from is removed from the configuration.
 */
export async function openVariantSigner({
  db,
  keyring,
}: Pick<Deps, "db" | "keyring">): Promise<VariantSigner> {
  const known = new Map<string, KeyObject>();
  for (const key of keyring.keysFor("public variant")) known.set(idOf(key), key);
  for (const { id, sealed } of await db.all(listPublicKeys, {})) {
    if (!known.has(id)) known.set(id, createSecretKey(keyring.decrypt(sealed, purpose), "base64url"));
  }
  // While the installation is read-only, an earlier start has already stored them.
  const saved = db.transact(async (tx) => {
    for (const [id, key] of known) {
      await tx.run(savePublicKey, {
        id,
        sealed: keyring.encrypt(key.export().toString("base64url"), purpose),
      });
    }
  });
  await unlessReadOnly(saved);
  return createVariantSigner({
    signedSecrets: keyring.keysFor("signed variant"),
    publicSecrets: [...known.values()],
  });
}

function idOf(key: KeyObject): string {
  return createHash("sha256").update(key.export()).digest("hex").slice(0, 16);
}
