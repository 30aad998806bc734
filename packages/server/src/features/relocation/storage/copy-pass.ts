import type { Statement } from "../../../db/statement.ts";
import { findContentTypes } from "./content-types.ts";
import { type CopyDeps, copyObject } from "./copy-object.ts";
import { listMissing, listStaged, measureMissing } from "./queries.ts";
import type { DamageReason, SourceObject } from "./read-object.ts";

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
  onProgress: (done: Amount, planned: Amount) => void;
}

const pageSize = 200;
const concurrency = 4;

/** Copies what the journal does not name yet, in the order of the keys. */
export async function copyMissing(deps: PassDeps): Promise<PassReport> {
  const planned = (await deps.db.get(measureMissing, {})) ?? { objects: 0, bytes: 0 };
  return copyListed(deps, listMissing, planned, false);
}

/** Copies bodies that wait for their upload to be completed, so that it can be completed afterwards. */
export function copyStaged(deps: CopyDeps): Promise<PassReport> {
  return copyListed({ ...deps, onProgress: () => {} }, listStaged, { objects: 0, bytes: 0 }, true);
}

async function copyListed(
  deps: PassDeps,
  list: Statement<{ after: string; take: number }, SourceObject>,
  planned: Amount,
  isStaged: boolean,
): Promise<PassReport> {
  const report: PassReport = { copied: { objects: 0, bytes: 0 }, damaged: [] };
  deps.onProgress(report.copied, planned);
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
      deps.onProgress(report.copied, planned);
    });
    const last = page.at(-1);
    if (last === undefined) return report;
    after = last.key;
  }
}

/** A failure ends all; the others are waited for, so that nothing goes on behind the caller's back. */
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
