import { finished } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import type { Queryable } from "../../db/database.ts";
import type { FileTable, StorageDeletionTable, VariantTable } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import { randomText } from "../../ids.ts";
import type { Draft, ObjectStream, StoredObject } from "../../ports/object-store.ts";
import { removeBytes, scheduleDeletion } from "../files/storage-deletions.ts";
import { unsupportedType } from "./image-type.ts";
import {
  claimVariant,
  dropClaim,
  extendClaim,
  findVariant,
  forgetVariant,
  markFailed,
  markReady,
} from "./queries.ts";
import { formatRecipe, type Recipe } from "./recipe.ts";
import type { GetMemory } from "./render/frame-channel.ts";
import { RenderQueueFull, RenderTimeout, RenderUnavailable } from "./render/render-errors.ts";
import { maxSourceBytes, type RenderProblem, type RequestedFormat } from "./render/render-job.ts";
import type { RenderPool, RenderResult } from "./render/render-pool.ts";
import { variantId, variantStoreKey } from "./variant-id.ts";

type SourceFile = Pick<FileTable, "id" | "key" | "size_bytes" | "store">;

/** Extended while the holder lives, so that a claim runs out only when that died. */
const leaseMs = 15_000;
const extendEveryMs = leaseMs / 3;
const failedForMs = 60_000;
/** Longer than a claim outlives its holder, so that whoever asks after a crash waits and need not come back. */
const waitForOthersMs = 20_000;
/** Shorter than proxies wait, which would make a 504 of it. */
const waitAtMostMs = 50_000;

export interface Variants {
  /**
   * The stored variant, rendered now if it has to be. Throws what the client is to be told; after a while that it has to
   * come back for what is still being rendered.
   */
  get(file: SourceFile, recipe: Recipe, format: RequestedFormat): Promise<VariantTable>;
  /** For a variant whose bytes turned out to be gone: the next `get` renders it anew. */
  forget(variant: VariantTable): Promise<void>;
  /** Once nothing is under way any more: what a closed pool has refused still gives its claim back. */
  settled(): Promise<void>;
}

/** One render per variant at a time: among the requests of this process by a map, among instances by a claim. */
export function createVariants(deps: Deps, pool: RenderPool, patienceMs = waitAtMostMs): Variants {
  const underWay = new Map<string, Promise<VariantTable>>();
  return {
    async get(file, recipe, format) {
      const id = variantId(file.id, recipe, format);
      let making = underWay.get(id);
      if (making !== undefined) return within(patienceMs, making);
      const stored = await deps.db.recall(findVariant, id, () => ({ id }));
      if (stored?.state === "ready") return stored;
      making = underWay.get(id);
      if (making === undefined) {
        making = makeOrAwait(deps, pool, { id, file, recipe, format }, stored).finally(() =>
          underWay.delete(id),
        );
        underWay.set(id, making);
      }
      return within(patienceMs, making);
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
      await Promise.allSettled(underWay.values());
    },
  };
}

async function within(patienceMs: number, making: Promise<VariantTable>): Promise<VariantTable> {
  const outOfPatience = Promise.withResolvers<never>();
  const timer = setTimeout(() => outOfPatience.reject(busy(5)), patienceMs);
  try {
    return await Promise.race([making, outOfPatience.promise]);
  } finally {
    clearTimeout(timer);
  }
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
  stored: VariantTable | null,
): Promise<VariantTable> {
  const { id, file, recipe } = wanted;
  const claim = randomText(16);
  const storeKey = variantStoreKey(file.key, id, claim);
  const deadline = performance.now() + waitForOthersMs;
  let last = stored;
  for (let pauseMs = 20; performance.now() < deadline; pauseMs = Math.min(250, pauseMs * 2)) {
    const claimed = await deps.db.change(claimVariant, {
      id,
      fileId: file.id,
      store: file.store,
      storeKey,
      recipe: formatRecipe(recipe),
      claim,
      leaseMs,
      usedAt: deps.now(),
    });
    if (claimed.length > 0) {
      if (last?.state === "rendering") await clearAway(deps, last);
      return make(deps, pool, wanted, { claim, storeKey });
    }
    last = await deps.db.get(findVariant, { id });
    if (last?.state === "ready") return last;
    if (last?.state === "failed") throw explainProblem(last.problem as RenderProblem);
    await wait(pauseMs);
  }
  throw busy(5);
}

/** Bytes may have been written that no row tells of: their writer died before it said so, or had no answer. */
async function clearAway(
  deps: Deps,
  { store, store_key }: Pick<VariantTable, "store" | "store_key">,
): Promise<void> {
  await deps.db.transact((tx) =>
    scheduleDeletion(tx, deps.now(), { store, key: store_key, upload_id: null }),
  );
}

async function make(
  deps: Deps,
  pool: RenderPool,
  wanted: Wanted,
  held: { claim: string; storeKey: string },
): Promise<VariantTable> {
  const { id } = wanted;
  const { claim, storeKey } = held;
  const toDelete = { store: deps.store.name, key: storeKey, upload_id: null };
  let draft: Draft | null = null;
  const extending = setInterval(() => {
    // Lost or away, the claim is looked at again when the bytes are there.
    deps.db.run(extendClaim, { id, claim, leaseMs }).catch(() => {});
  }, extendEveryMs);
  try {
    draft = (await deps.store.openDraft?.()) ?? null;
    const rendered = await render(deps, pool, wanted, draft);
    if (!rendered.ok) {
      await deps.db.run(markFailed, { id, claim, problem: rendered.problem, forMs: failedForMs });
      throw explainProblem(rendered.problem);
    }
    const tooLate: StorageDeletionTable[] = [];
    const recordReady = async (tx: Queryable, { sizeBytes, etag }: StoredObject) => {
      const { contentType } = rendered;
      const now = deps.now();
      const ready = await tx.get(markReady, { id, claim, sizeBytes, etag, contentType, now });
      if (ready === null) tooLate.push(await scheduleDeletion(tx, now, toDelete));
      return ready;
    };
    const ready = await store(deps, storeKey, rendered, draft, recordReady);
    if (ready !== null) return ready;
    await removeBytes(deps, tooLate);
    return await getOthers(deps, id, claim);
  } catch (error) {
    await deps.db.run(dropClaim, { id, claim });
    throw error;
  } finally {
    clearInterval(extending);
    await draft?.discard();
  }
}

async function store(
  deps: Deps,
  storeKey: string,
  { bytes, written, contentType }: Extract<RenderResult, { ok: true }>,
  draft: Draft | null,
  recordReady: (tx: Queryable, object: StoredObject) => Promise<VariantTable | null>,
): Promise<VariantTable | null> {
  if (draft !== null && written !== null) return draft.keep(storeKey, written, recordReady);
  try {
    const object = await deps.store.write(storeKey, bytes, { contentType });
    return await deps.db.transact((tx) => recordReady(tx, object));
  } catch (error) {
    await clearAway(deps, { store: deps.store.name, store_key: storeKey });
    throw error;
  }
}

/** Our bytes came too late: the file is deleted, or another instance believed us dead and renders it too. */
async function getOthers(deps: Deps, id: string, claim: string): Promise<VariantTable> {
  const other = await deps.db.get(findVariant, { id });
  if (other?.state === "ready") return other;
  throw other === null || other.claim === claim ? notFound("File") : busy(1);
}

async function render(
  deps: Deps,
  pool: RenderPool,
  { file, recipe, format }: Wanted,
  draft: Draft | null,
): Promise<RenderResult> {
  if (file.size_bytes > maxSourceBytes) return { ok: false, problem: "too-many-bytes" };
  try {
    return await pool.render({
      findSourceFile: async () => (await deps.store.findFile?.(file.key)) ?? null,
      readSource: (getMemory) => readSource(deps, file, getMemory),
      ...(draft === null ? {} : { draft }),
      recipe,
      format,
    });
  } catch (error) {
    if (error instanceof RenderTimeout) return { ok: false, problem: "unprocessable" };
    if (error instanceof RenderQueueFull) throw busy(error.retryAfterSec);
    if (error instanceof RenderUnavailable) throw busy(5);
    throw error;
  }
}

async function readSource(deps: Deps, file: SourceFile, getMemory: GetMemory): Promise<Buffer> {
  const source = await deps.store.read(file.key);
  if (source === null) throw notFound("File");
  return Buffer.isBuffer(source) ? source : collect(source, getMemory(file.size_bytes));
}

/** Straight into place: by way of stream/consumers each image would cost half as much again outside its worker. */
async function collect(source: ObjectStream, memory: Buffer): Promise<Buffer> {
  let sizeBytes = 0;
  source.on("data", (chunk: Buffer) => {
    if (sizeBytes + chunk.length > memory.length) source.destroy(new Error("longer than recorded"));
    chunk.copy(memory, sizeBytes);
    sizeBytes += chunk.length;
    source.recycle?.(chunk);
  });
  await finished(source);
  return memory.subarray(0, sizeBytes);
}

const refusals: Record<Exclude<RenderProblem, "unsupported">, [message: string, suggestion: string]> = {
  unprocessable: [
    "The image is damaged or takes too long to read and cannot be transformed.",
    "Upload another version of the image.",
  ],
  "too-large": [
    "The image is larger than 50 megapixels, all frames counted, and cannot be transformed.",
    "Upload a version of the image with fewer pixels.",
  ],
  "too-many-bytes": [
    "The image is larger than 128 MiB and cannot be transformed.",
    "Upload a version of the image with fewer bytes.",
  ],
  "result-too-large": [
    "The animation would be larger than 50 megapixels in this size, all frames counted.",
    "Ask for a smaller width or height, or for another format than WebP: that has the first frame alone.",
  ],
};

function explainProblem(problem: RenderProblem): AppError {
  if (problem === "unsupported") return unsupportedType();
  const [message, suggestion] = refusals[problem];
  return new AppError("VALIDATION_ERROR", message, { status: 422, suggestion });
}

function busy(retryAfterSec: number): AppError {
  return new AppError("SERVICE_UNAVAILABLE", "Too many images are being rendered right now.", {
    suggestion: "Try again in a moment.",
    headers: { "retry-after": String(retryAfterSec) },
  });
}
