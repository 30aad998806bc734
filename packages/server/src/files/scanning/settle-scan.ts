import type { Queryable } from "../../db/database.ts";
import type { FileMoveRow, FileRow, StorageDeletionRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { findRoute, serves } from "../../projects/file-routes/find-route.ts";
import { cdnFor, fileUrl } from "../../projects/file-url.ts";
import { writeLog } from "../../projects/logs/queries.ts";
import { placeFor } from "../../storage/storage-key.ts";
import { enqueueUploadCompleted } from "../../webhooks/enqueue.ts";
import { settleDeleted } from "../delete-files.ts";
import { moveBytes, scheduleMove } from "../file-moves.ts";
import { factsDueAt } from "../image-facts.ts";
import { findOwner } from "../imports/queries.ts";
import { claimByFor } from "../life.ts";
import { removeBytes } from "../storage-deletions.ts";
import { failUpload } from "../uploads/fail-upload.ts";
import { laneOf } from "../uploads/queries.ts";
import type { ScanAnswer } from "./clamd.ts";
import { markInfected, markReadable, markUnscanned } from "./queries.ts";

export type ScannerDeps = Omit<Deps, "scanner">;

/** Ends a scan: one guarded change of the row with its consequences. Nothing happens if the file is no longer pending. */
export async function settleScan(deps: ScannerDeps, file: FileRow, answer: ScanAnswer): Promise<void> {
  if (answer.verdict === "infected") return deleteInfected(deps, file, answer.signature);
  const found = await findRoute(deps.db, file.project_id, file.route_slug);
  const route = found !== null && serves(found, file.environment) ? found : null;
  if (answer.verdict === "unscanned" && route?.scan_unknown !== "allow") return refuseUnscanned(deps, file);

  // Null if the project was deleted, whose files stay.
  const owner = await deps.db.get(findOwner, { projectId: file.project_id });
  const webhookUrl = route?.webhook_url ?? null;
  const now = deps.now();
  const moves = await deps.db.transact(async (tx) => {
    const [confirmed] = await tx.all(markReadable, {
      id: file.id,
      routeSlug: file.route_slug,
      scan: answer.verdict,
      claimBy: claimByFor(route, now),
      factsDueAt: factsDueAt(file, { store: deps.store.name, imageTypes: deps.imageTypes }),
      now,
    });
    return confirmed === undefined ? null : confirm(tx, confirmed);
  }, laneOf(file));
  if (moves === null) return;
  if (webhookUrl === null) deps.dispatcher.announce();
  else deps.dispatcher.nudge();
  await moveBytes(deps, moves);

  async function confirm(tx: Queryable, confirmed: FileRow): Promise<FileMoveRow[]> {
    const cdn = cdnFor(deps.config, owner ?? { cdnUrl: null });
    await Promise.all([
      enqueueUploadCompleted(tx, now, { file: confirmed, webhookUrl, fileUrl: fileUrl(cdn, confirmed.key) }),
      answer.verdict === "unscanned" && logUnscanned(tx, now, confirmed),
    ]);
    return confirmed.stored_apart === placeFor(confirmed) ? [] : scheduleMove(tx, now, confirmed);
  }
}

const scopeOf = ({ project_id, environment }: FileRow) => ({ projectId: project_id, environment });

async function deleteInfected(deps: ScannerDeps, file: FileRow, signature: string): Promise<void> {
  const now = deps.now();
  const scope = scopeOf(file);
  const { deletions } = await deps.db.transact(async (tx) => {
    const rows = await tx.all(markInfected, { id: file.id, now });
    return settleDeleted(tx, now, scope, rows, ({ name }) => ({
      type: "file.infected",
      message: `"${name}" is infected with ${signature} and was deleted.`,
    }));
  }, laneOf(file));
  await removeBytes(deps, deletions);
}

async function refuseUnscanned(deps: ScannerDeps, file: FileRow): Promise<void> {
  const now = deps.now();
  const deletions = await deps.db.transact(async (tx): Promise<StorageDeletionRow[]> => {
    const judged = { id: file.id, routeSlug: file.route_slug, now };
    if ((await tx.run(markUnscanned, judged)) === 0) return [];
    const message = `Upload of "${file.name}" was rejected: it is too large for the virus scanner.`;
    return [await failUpload(tx, now, file, { message, data: { reason: "unscanned" } })];
  }, laneOf(file));
  await removeBytes(deps, deletions);
}

function logUnscanned(tx: Queryable, now: number, file: FileRow): Promise<unknown> {
  return writeLog(tx, now, {
    ...scopeOf(file),
    type: "file.unscanned",
    message: `"${file.name}" can be read unscanned: it is too large for the virus scanner.`,
    file,
    data: { size: file.size_bytes },
  });
}
