import type { Database } from "../../db/database.ts";
import { factsDueAt, type ImageTypes } from "../../files/image-facts.ts";
import { countDueFacts, listForBackfill, markFactsDue } from "./facts-queries.ts";

export interface Backfill {
  /** Files looked through. */
  files: number;
  /** Images that the service will describe. */
  images: number;
}

const filesAtOnce = 1_000;

/** Marks images without facts as due, in short steps, beside the running service. What is marked stays so. */
export async function backfillFacts(
  db: Database,
  { retries, ...own }: { store: string; imageTypes: ImageTypes; retries: boolean },
  onStep: (done: Backfill) => void,
  signal: AbortSignal,
): Promise<Backfill> {
  const done: Backfill = { files: 0, images: 0 };
  for (let after = ""; !signal.aborted; ) {
    const files = await db.all(listForBackfill, { after, take: filesAtOnce });
    const last = files.at(-1);
    if (last === undefined) break;
    after = last.id;
    const wanted = files.filter(
      (file) =>
        file.status === "UPLOADED" &&
        file.facts_due_at === null &&
        (file.image === null || (retries && file.image === "null")) &&
        factsDueAt(file, own) !== null,
    );
    const idsJson = JSON.stringify(wanted.map(({ id }) => id));
    if (wanted.length > 0) done.images += await db.run(markFactsDue, { idsJson, retries: Number(retries) });
    done.files += files.length;
    onStep(done);
  }
  return done;
}

export async function countWaiting(db: Database): Promise<number> {
  return (await db.get(countDueFacts, {}))?.count ?? 0;
}
