import type { Queryable } from "../../../db/database.ts";
import type { Statement } from "../../../db/statement.ts";
import { nameFile } from "../../../files/serialize.ts";
import { findVariantId } from "../../../serving/images/variant-signature.ts";
import { type CopyDeps, copyObject, type DamageReason, type SourceObject } from "./copy-object.ts";
import {
  listFileTypes,
  listMissing,
  listStaged,
  listVariantTypes,
  measureMoved,
  measureUncopied,
} from "./queries.ts";

export interface Amount {
  objects: number;
  bytes: number;
}

export interface DamagedObject {
  key: string;
  reason: DamageReason;
}

export interface PassReport {
  copied: Amount;
  damaged: DamagedObject[];
}

export interface PassDeps extends CopyDeps {
  /** Includes earlier runs. */
  onProgress: (done: Amount, planned: Amount) => void;
}

const nothing: Amount = { objects: 0, bytes: 0 };
const add = (one: Amount, other: Amount): Amount => ({
  objects: one.objects + other.objects,
  bytes: one.bytes + other.bytes,
});

const pageSize = 200;
const concurrency = 4;

/** Copies objects that are not in the journal yet, in key order. */
export async function copyMissing(deps: PassDeps): Promise<PassReport> {
  const moved = (await deps.db.get(measureMoved, {})) ?? nothing;
  const planned = add(moved, (await deps.db.get(measureUncopied, {})) ?? nothing);
  const onCopied = (copied: Amount) => deps.onProgress(add(moved, copied), planned);
  return copyListed(deps, listMissing, onCopied, false);
}

/** Copies bodies of uploads that are not completed yet, so that they can be completed afterwards. */
export function copyStaged(deps: CopyDeps): Promise<PassReport> {
  return copyListed(deps, listStaged, () => {}, true);
}

async function copyListed(
  deps: CopyDeps,
  list: Statement<{ after: string; take: number }, SourceObject>,
  onCopied: (copied: Amount) => void,
  isStaged: boolean,
): Promise<PassReport> {
  const report: PassReport = { copied: { ...nothing }, damaged: [] };
  onCopied(report.copied);
  for (let after = ""; ; ) {
    const page = await deps.db.all(list, { after, take: pageSize });
    const typeOf = await findContentTypes(
      deps.db,
      page.map(({ key }) => key),
    );
    await forEach(page, async (object) => {
      const { key, size_bytes: sizeBytes } = object;
      const outcome = await copyObject(deps, object, { key, contentType: typeOf(key), isStaged });
      if (typeof outcome === "object") report.damaged.push({ key, reason: outcome.damaged });
      if (outcome !== "copied") return;
      report.copied.objects++;
      report.copied.bytes += sizeBytes;
      onCopied(report.copied);
    });
    const last = page.at(-1);
    if (last === undefined) return report;
    after = last.key;
  }
}

/** A failure stops everything, but waits for the others, so that nothing continues in the background. */
async function forEach<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  let hasFailed = false;
  const workers = Array.from({ length: concurrency }, async () => {
    for (const item of rest) {
      if (hasFailed) return;
      await work(item).catch((error) => {
        hasFailed = true;
        throw error;
      });
    }
  });
  const outcomes = await Promise.allSettled(workers);
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}

const unknownType = "application/octet-stream";

/** The content type of each object, for clients that read the bucket directly. */
async function findContentTypes(db: Queryable, keys: string[]): Promise<(key: string) => string> {
  const fileIds = keys.map((key) => nameFile(key).id);
  const variantIds = keys.flatMap((key) => findVariantId(key) ?? []);
  const files = await db.all(listFileTypes, { idsJson: JSON.stringify(fileIds) });
  const variants = await db.all(listVariantTypes, { idsJson: JSON.stringify(variantIds) });
  const typeOfFile = new Map(files.map(({ id, type }) => [id, type]));
  const typeOfVariant = new Map(variants.map(({ id, content_type: type }) => [id, type]));
  return (key) => {
    const variantId = findVariantId(key);
    const type = variantId === null ? typeOfFile.get(nameFile(key).id) : typeOfVariant.get(variantId);
    return type ?? unknownType;
  };
}
