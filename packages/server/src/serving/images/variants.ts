import { setTimeout as wait } from "node:timers/promises";
import type { Queryable } from "../../db/database.ts";
import type { StorageDeletionRow, VariantRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { removeBytes, scheduleDeletion } from "../../files/storage-deletions.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { randomText } from "../../kernel/ids.ts";
import type { StoredObject } from "../../storage/object-store.ts";
import { objectKey, placeFor } from "../../storage/storage-key.ts";
import { ownerOf, type SourceFile, toSource } from "./image-source.ts";
import { unsupportedType } from "./look-at-image.ts";
import {
  claimVariant,
  dropVariantClaim,
  extendVariantClaim,
  findVariant,
  forgetVariant,
  markReady,
  markVariantFailed,
} from "./queries.ts";
import { formatRecipe, type Recipe } from "./recipe.ts";
import {
  maxSourceBytes,
  RenderAbandoned,
  type RenderProblem,
  RenderQueueFull,
  RenderTimeout,
  RenderUnavailable,
  type RequestedFormat,
} from "./render/render-job.ts";
import type { RenderPool, RenderResult } from "./render/render-pool.ts";
import { type Asker, type SharedWork, shareWork, type WorkTerms } from "./shared-work.ts";
import { variantId, variantStoreKey } from "./variant-signature.ts";

/** Extended while the holder is alive, so that a claim expires only if it died. */
const leaseMs = 15_000;
const extendEveryMs = leaseMs / 3;
const failedForMs = 60_000;
/** Longer than a claim outlives its holder, so that a client after a crash can wait instead of coming back. */
const waitForOthersMs = 20_000;
/** Shorter than proxies wait before they return 504. */
const waitAtMostMs = 50_000;

export interface Variants {
  /**
   * The stored variant, rendered now if necessary. Throws the client's error; after a while, that it has to come back
   * for a render still in progress. When all clients have disconnected, a render that has not started is dropped.
   */
  get(file: SourceFile, recipe: Recipe, format: RequestedFormat, asker?: Asker): Promise<VariantRow>;
  /** For a variant whose bytes turned out to be gone: the next `get` renders it again. */
  forget(variant: VariantRow): Promise<void>;
  /** Resolves when no render is in progress: those rejected by a closed pool still release their claims. */
  settled(): Promise<void>;
}

/** One render per variant at a time: within this process by a map, across instances by a claim. */
export function createVariants(deps: Deps, pool: RenderPool, patienceMs = waitAtMostMs): Variants {
  const underWay = new Map<string, SharedWork<VariantRow>>();

  function begin(wanted: Wanted, stored: VariantRow | null): SharedWork<VariantRow> {
    const work = shareWork((terms) =>
      makeOrAwait(deps, pool, wanted, stored, terms).finally(() => underWay.delete(wanted.id)),
    );
    underWay.set(wanted.id, work);
    return work;
  }

  return {
    async get(file, recipe, format, asker = {}) {
      const id = variantId(file.id, recipe, format, file.focus);
      for (;;) {
        let work = underWay.get(id);
        if (work === undefined) {
          const stored = await deps.db.recall(findVariant, { id });
          if (stored?.state === "ready") return stored;
          work = underWay.get(id) ?? begin({ id, file, recipe, format }, stored);
        }
        try {
          return await work.join(asker, patienceMs, () => busy(5));
        } catch (error) {
          // Dropped just after the last client left and before this one arrived.
          if (!(error instanceof RenderAbandoned)) throw error;
        }
      }
    },
    async forget({ id, etag }) {
      const now = deps.now();
      await deps.db.transact(async (tx) => {
        const gone = await tx.get(forgetVariant, { id, etag: etag ?? "" });
        if (gone !== null)
          await scheduleDeletion(tx, now, { store: gone.store, key: gone.store_key, upload_id: null });
      });
    },
    async settled() {
      await Promise.allSettled([...underWay.values()].map(({ result }) => result));
    },
  };
}

interface Wanted {
  id: string;
  file: SourceFile;
  recipe: Recipe;
  format: RequestedFormat;
}

async function makeOrAwait(
  deps: Deps,
  pool: RenderPool,
  wanted: Wanted,
  stored: VariantRow | null,
  terms: WorkTerms,
): Promise<VariantRow> {
  const { id, file, recipe } = wanted;
  const claim = randomText(16);
  // Also apart if the file itself has yet to be moved.
  const place = placeFor({ access: file.access, scan: null });
  const storeKey = variantStoreKey(objectKey({ ...file, stored_apart: place }), id, claim);
  const account = await ownerOf(deps, file);
  const deadline = performance.now() + waitForOthersMs;
  let last = stored;
  for (let pauseMs = 20; performance.now() < deadline; pauseMs = Math.min(250, pauseMs * 2)) {
    terms.signal.throwIfAborted();
    const claimed = await deps.db.change(claimVariant, {
      id,
      fileId: file.id,
      store: file.store,
      storeKey,
      account,
      recipe: formatRecipe(recipe),
      claim,
      leaseMs,
      usedAt: deps.now(),
    });
    if (claimed.length > 0) {
      if (last?.state === "rendering") await clearAway(deps, last);
      return make(deps, pool, wanted, terms, { claim, storeKey });
    }
    last = await deps.db.get(findVariant, { id });
    if (last?.state === "ready") return last;
    if (last?.state === "failed") throw explainProblem(last.problem as RenderProblem);
    await wait(pauseMs);
  }
  throw busy(5);
}

/** Bytes may exist without a row: their writer died before recording them, or got no response. */
async function clearAway(
  deps: Deps,
  { store, store_key }: Pick<VariantRow, "store" | "store_key">,
): Promise<void> {
  await deps.db.transact((tx) =>
    scheduleDeletion(tx, deps.now(), { store, key: store_key, upload_id: null }),
  );
}

async function make(
  deps: Deps,
  pool: RenderPool,
  wanted: Wanted,
  terms: WorkTerms,
  held: { claim: string; storeKey: string },
): Promise<VariantRow> {
  const { id } = wanted;
  const { claim, storeKey } = held;
  const toDelete = { store: deps.store.name, key: storeKey, upload_id: null };
  const extending = setInterval(() => {
    // If it is lost or unavailable, the claim is checked again when the bytes are there.
    deps.db.run(extendVariantClaim, { id, claim, leaseMs }).catch(() => {});
  }, extendEveryMs);
  try {
    const rendered = await render(deps, pool, wanted, terms);
    if (!rendered.ok) {
      await deps.db.run(markVariantFailed, { id, claim, problem: rendered.problem, forMs: failedForMs });
      throw explainProblem(rendered.problem);
    }
    const tooLate: StorageDeletionRow[] = [];
    const recordReady = async (tx: Queryable, { sizeBytes, etag }: StoredObject) => {
      const { contentType } = rendered;
      const now = deps.now();
      const ready = await tx.get(markReady, { id, claim, sizeBytes, etag, contentType, now });
      if (ready === null) tooLate.push(await scheduleDeletion(tx, now, toDelete));
      return ready;
    };
    const ready = await store(deps, storeKey, rendered, recordReady);
    if (ready !== null) return ready;
    await removeBytes(deps, tooLate);
    return await getOthers(deps, id, claim);
  } catch (error) {
    await deps.db.run(dropVariantClaim, { id, claim });
    throw error;
  } finally {
    clearInterval(extending);
  }
}

async function store(
  deps: Deps,
  storeKey: string,
  { bytes, contentType }: Extract<RenderResult, { ok: true }>,
  recordReady: (tx: Queryable, object: StoredObject) => Promise<VariantRow | null>,
): Promise<VariantRow | null> {
  try {
    const object = await deps.store.write(storeKey, bytes, { contentType });
    return await deps.db.transact((tx) => recordReady(tx, object));
  } catch (error) {
    await clearAway(deps, { store: deps.store.name, store_key: storeKey });
    throw error;
  }
}

/** Our bytes came too late: the file was deleted, or another instance considered us dead and renders it too. */
async function getOthers(deps: Deps, id: string, claim: string): Promise<VariantRow> {
  const other = await deps.db.get(findVariant, { id });
  if (other?.state === "ready") return other;
  throw other === null || other.claim === claim ? notFound("File") : busy(1);
}

async function render(
  deps: Deps,
  pool: RenderPool,
  { file, recipe, format }: Wanted,
  { signal, isPreview }: WorkTerms,
): Promise<RenderResult> {
  if (file.size_bytes > maxSourceBytes) return { ok: false, problem: "too-many-bytes" };
  const source = await toSource(deps, file);
  try {
    return await pool.render({
      ...source,
      isPreview,
      signal,
      recipe,
      focus: file.focus,
      format,
    });
  } catch (error) {
    if (error instanceof RenderTimeout) return { ok: false, problem: "unprocessable" };
    if (error instanceof RenderQueueFull) throw explainFull(error);
    if (error instanceof RenderUnavailable) throw busy(5);
    throw error;
  }
}

const refusals: Record<Exclude<RenderProblem, "unsupported">, [message: string, suggestion: string]> = {
  unprocessable: [
    "The image is damaged or takes too long to read and cannot be transformed.",
    "Upload another version of the image.",
  ],
  "too-large": [
    "The image is larger than 50 megapixels, counting all frames, and cannot be transformed.",
    "Upload a version of the image with fewer pixels.",
  ],
  "too-many-bytes": [
    "The image is larger than 128 MiB and cannot be transformed.",
    "Upload a version of the image with fewer bytes.",
  ],
  "result-too-large": [
    "The animation would be larger than 50 megapixels at this size, counting all frames.",
    "Request a smaller width or height, or a format other than WebP, which contains only the first frame.",
  ],
};

function explainProblem(problem: RenderProblem): AppError {
  if (problem === "unsupported") return unsupportedType();
  const [message, suggestion] = refusals[problem];
  return new AppError("VALIDATION_ERROR", message, { status: 422, suggestion });
}

/** For the account whose queue is full; no other account is affected. */
function explainFull({ retryAfterSec, isPreview }: RenderQueueFull): AppError {
  if (!isPreview) return busy(retryAfterSec, "This account has too many images waiting to be rendered.");
  return new AppError("RATE_LIMITED", "Too many previews are waiting to be rendered.", {
    suggestion: "Try again when the pending previews have arrived.",
    headers: { "retry-after": String(retryAfterSec) },
  });
}

function busy(retryAfterSec: number, message = "Too many images are being rendered right now."): AppError {
  return new AppError("SERVICE_UNAVAILABLE", message, {
    suggestion: "Try again in a moment.",
    headers: { "retry-after": String(retryAfterSec) },
  });
}
