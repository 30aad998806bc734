import type { ImageFacts } from "@upstow/contract";
import { sql } from "#kysely";
import type { Database } from "../../db/database.ts";
import type { FileRow } from "../../db/schema.ts";
import { databaseNow, isOneOf, leaseEnd, statement } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import { factsDueAt, type ImageTypes } from "../../files/image-facts.ts";
import { readable } from "../../files/life.ts";
import { createDueTurns } from "../../files/workers.ts";
import { AppError } from "../../kernel/errors.ts";
import { findRoute } from "../../projects/file-routes/find-route.ts";
import { toSource } from "./image-source.ts";
import { maxSourceBytes, RenderTimeout } from "./render/render-job.ts";
import type { RenderPool } from "./render/render-pool.ts";

/** Longer than a renderer may take. A worker that died leaves its images to others after this time. */
const leaseMs = 120_000;
/** At most as many as an account's previews, which share their turns. */
const atOnce = 2;

/** Finds the facts of images that are due, and returns when none are left. */
export async function describeImages(deps: Deps, pool: RenderPool, signal: AbortSignal): Promise<void> {
  const claimNext = createDueTurns(
    (projectId) => deps.db.get(findDueFacts, { projectId }),
    async ({ id, facts_due_at: seen }) => {
      const [claimed] = await deps.db.change(claimFacts, { id, seen: seen ?? 0, leaseMs });
      return claimed;
    },
  );
  const isOver = () => signal.aborted;

  async function work(): Promise<void> {
    for (let file = await claimNext(isOver); file !== null; file = await claimNext(isOver)) {
      try {
        const facts = await findFacts(deps, pool, file, signal);
        await deps.db.run(saveFacts, { id: file.id, image: JSON.stringify(facts) });
      } catch (error) {
        // Tried again once the claim has expired.
        deps.log.debug({ err: error, fileId: file.id }, "an image could not be described");
      }
    }
  }

  await Promise.all(Array.from({ length: atOnce }, work));
}

/** Null if the image cannot be read. Throws if that says nothing about the image. */
async function findFacts(
  deps: Deps,
  pool: RenderPool,
  file: FileRow,
  signal: AbortSignal,
): Promise<ImageFacts | null> {
  if (file.size_bytes > maxSourceBytes) return null;
  const route = await findRoute(deps.db, file.project_id, file.route_slug);
  try {
    // A service that stops does not wait for what has not started, which variants may hold up for minutes.
    const source = { ...(await toSource(deps, file)), signal };
    const result = await pool.describe(source, route?.keep_location === 1);
    return result.ok ? result.facts : null;
  } catch (error) {
    const isGone = error instanceof AppError && ["NOT_FOUND", "FILE_DAMAGED"].includes(error.code);
    if (isGone || error instanceof RenderTimeout) return null;
    throw error;
  }
}

export interface Backfill {
  /** Files looked through. */
  files: number;
  /** Images that the service will describe. */
  images: number;
}

const filesAtOnce = 1_000;

/** Marks images without facts as due, in short steps while the service runs. Marks are never removed. */
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

// Conditions on state are literals, to match those of the index.

/** The next project with an image that is due, and that image. */
export const findDueFacts = statement((q, p: { projectId: string }, dialect) =>
  q
    .selectFrom("file")
    .select(["id", "project_id", "facts_due_at"])
    .where(sql<boolean>`facts_due_at is not null and status = 'UPLOADED'`)
    .where("project_id", ">", p.projectId)
    .where("facts_due_at", "<=", databaseNow(dialect))
    .orderBy("project_id")
    .orderBy("facts_due_at")
    .limit(1),
);

/** No row if another worker was faster. */
export const claimFacts = statement((q, p: { id: string; seen: number; leaseMs: number }, dialect) =>
  q
    .updateTable("file")
    .set({ facts_due_at: leaseEnd(dialect, p.leaseMs) })
    .where("id", "=", p.id)
    .where("facts_due_at", "=", p.seen)
    .where("status", "=", "UPLOADED")
    .returningAll(),
);

/** The first writer wins: all of them found the same facts. */
export const saveFacts = statement((q, p: { id: string; image: string }) =>
  q
    .updateTable("file")
    .set({ image: p.image, facts_due_at: null })
    .where("id", "=", p.id)
    .where("facts_due_at", "is not", null),
);

/** Counting more would take longer than a scrape should. */
export const mostDueCounted = 100_000;

export const countDueFacts = statement((q, _: object) =>
  q
    .selectFrom((inner) =>
      inner
        .selectFrom("file")
        .select("id")
        .where(sql<boolean>`facts_due_at is not null and status = 'UPLOADED'`)
        .limit(mostDueCounted)
        .as("counted"),
    )
    .select(sql<number>`count(*)`.as("count")),
);

const listForBackfill = statement((q, p: { after: string; take: number }) =>
  q
    .selectFrom("file")
    .select(["id", "type", "store", "status", "image", "facts_due_at"])
    .where("id", ">", p.after)
    .orderBy("id")
    .limit(p.take),
);

/** Only those that are still without facts, or with none, if those are to be tried again. */
const markFactsDue = statement((q, p: { idsJson: string; retries: number }, dialect) =>
  q
    .updateTable("file")
    .set({ facts_due_at: sql.lit(0) })
    .where(isOneOf(dialect, "id", p.idsJson))
    .where(readable)
    .where("facts_due_at", "is", null)
    .where((e) =>
      e.or([
        e("image", "is", null),
        e.and([e("image", "=", "null"), sql<boolean>`cast(${p.retries} as bigint) = 1`]),
      ]),
    ),
);
