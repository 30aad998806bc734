import type { Database } from "../../../db/database.ts";
import { AppError } from "../../../kernel/errors.ts";
import type { BucketTarget } from "./copy-object.ts";
import {
  forgetDeleted,
  forgetMoved,
  listMoved,
  listMovedProjects,
  listWanted,
  measureMoved,
} from "./queries.ts";

const batchSize = 500;

/**
 * Compares the bucket with the journal, once nothing changes any more. Objects deleted since they were copied are
 * removed from the bucket; objects the bucket has lost are removed from the journal. Returns how many were removed,
 * and whether something has to be copied again.
 */
export async function takeCensus(
  db: Database,
  target: BucketTarget,
): Promise<{ removed: number; hasLosses: boolean }> {
  await db.run(forgetDeleted, {});
  let [seen, removed, lost] = [0, 0, 0];
  for await (const listed of inBatches(target.list(), batchSize)) {
    const keysJson = JSON.stringify(listed.map(({ key }) => key));
    const wanted = new Map((await db.all(listWanted, { keysJson })).map((row) => [row.key, row.size_bytes]));
    const unwanted = listed.filter(({ key }) => !wanted.has(key));
    const cut = listed.filter(({ key, sizeBytes }) => wanted.has(key) && wanted.get(key) !== sizeBytes);
    if (unwanted.length > 0) {
      await checkOwn(db, target, unwanted);
      await target.delete(unwanted.map(({ key }) => key));
    }
    lost += await forget(
      db,
      cut.map(({ key }) => key),
    );
    seen += listed.length - unwanted.length - cut.length;
    removed += unwanted.length;
  }
  const moved = (await db.get(measureMoved, {}))?.objects ?? 0;
  if (seen < moved) lost += await forgetLost(db, target);
  return { removed, hasLosses: lost > 0 };
}

/** Checks each individually, because an unsorted list cannot show which are missing. */
async function forgetLost(db: Database, target: BucketTarget): Promise<number> {
  let lost = 0;
  for (let after = ""; ; ) {
    const page = await db.all(listMoved, { after, take: batchSize });
    const last = page.at(-1);
    if (last === undefined) return lost;
    after = last.key;
    for (const { key } of page) if ((await target.findEtag(key)) === null) lost += await forget(db, [key]);
  }
}

function forget(db: Database, keys: string[]): Promise<number> {
  return keys.length === 0 ? Promise.resolve(0) : db.run(forgetMoved, { keysJson: JSON.stringify(keys) });
}

async function* inBatches<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Keys begin with their project. If one belongs to someone else, nothing may be removed or written. */
export async function checkOwn(
  db: Database,
  target: Pick<BucketTarget, "description">,
  listed: { key: string }[],
): Promise<void> {
  const projectOf = (key: string) => key.split("/", 1)[0] ?? "";
  const ids = [...new Set(listed.map(({ key }) => projectOf(key)))];
  const own = new Set(
    (await db.all(listMovedProjects, { idsJson: JSON.stringify(ids) })).map(({ id }) => id),
  );
  const foreign = listed.find(({ key }) => !own.has(projectOf(key)));
  if (foreign === undefined) return;
  throw new AppError(
    "VALIDATION_ERROR",
    `${target.description} contains objects that do not belong to this installation, such as ${foreign.key}.`,
    { suggestion: "Use an empty bucket, or set UPSTOW_S3_PREFIX to an empty folder." },
  );
}
