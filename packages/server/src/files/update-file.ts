import type { Access, UpdateFileBody } from "@upstow/contract";
import { sql } from "#kysely";
import type { Queryable } from "../db/database.ts";
import type { FileMoveRow, FileRow, StorageDeletionRow } from "../db/schema.ts";
import { statement } from "../db/statement.ts";
import type { Deps } from "../deps.ts";
import type { Actor } from "../kernel/actor.ts";
import { invalid, notFound } from "../kernel/errors.ts";
import { isoTime } from "../kernel/iso-time.ts";
import { recordUnlessKey } from "../projects/audit/record.ts";
import { writeLog } from "../projects/logs/queries.ts";
import { moveBytes, scheduleMove } from "./file-moves.ts";
import { formatFocus } from "./image-facts.ts";
import { notEnded, readExpiry } from "./life.ts";
import {
  claimFileRows,
  deleteVariantsOfFiles,
  isNamed,
  listClaimed,
  namedFile,
  type Scope,
} from "./queries.ts";
import { type NamedFile, nameFile, nameFiles } from "./serialize.ts";
import { removeBytes, scheduleDeletion, schedulePurge } from "./storage-deletions.ts";
import { serialiseMetadata } from "./uploads/rules.ts";

/** Work left for after the commit. */
interface Aftermath {
  deletions: StorageDeletionRow[];
  moves: FileMoveRow[];
}

/** Replaces the fields in the body and keeps the rest. The key and the URL never change. */
export async function updateFile(
  deps: Deps,
  { projectId, environment }: Pick<Actor, "projectId" | "environment">,
  keyOrId: string,
  body: UpdateFileBody,
): Promise<FileRow> {
  const now = deps.now();
  const changes = toChanges(body, now);
  const scope = { projectId, environment };
  const named = { ...scope, ...nameFile(keyOrId), now };
  const { file, aftermath } = await deps.db.transact(async (tx) => {
    const isRecorded = deps.author.kind !== "key";
    const before = changes.access === null && !isRecorded ? null : await tx.get(lockFile, named);
    const updated = await tx.get(updateFileRow, { ...named, ...changes });
    if (updated === null) throw notFound("File");
    const message = describe(changes, updated);
    await writeLog(tx, now, { ...scope, type: "file.updated", message, file: updated });
    await recordUnlessKey(tx, now, deps.author, {
      action: "file.updated",
      target: { kind: "files", id: updated.id },
      projectId,
      ...(before && { before }),
      after: updated,
    });
    const isNew = before !== null && before.access !== updated.access;
    const followUp = isNew ? await changeAccess(tx, now, updated) : { deletions: [], moves: [] };
    // Responses contain the name, and are cut around the focus; shared caches keep them for a year, or until the file expires.
    const { name, setsExpiry, setsFocus } = changes;
    const isShown = name !== null || setsExpiry === 1 || setsFocus === 1 || isNew;
    const isCached = deps.cdn !== null && isShown && updated.completed_at !== null;
    if (isCached) followUp.deletions.push(await schedulePurge(tx, now, updated));
    return { file: updated, aftermath: followUp };
  });
  await removeBytes(deps, aftermath.deletions);
  await moveBytes(deps, aftermath.moves);
  return file;
}

/** Variants of a public file are stored where everyone can read them, so they are rendered again. */
async function changeAccess(tx: Queryable, now: number, file: FileRow): Promise<Aftermath> {
  const fileIdsJson = JSON.stringify([file.id]);
  const variants = file.access === "public" ? [] : await tx.all(deleteVariantsOfFiles, { fileIdsJson });
  return {
    deletions: await Promise.all(
      variants.map(({ store, store_key }) =>
        scheduleDeletion(tx, now, { store, key: store_key, upload_id: null }),
      ),
    ),
    moves: await scheduleMove(tx, now, file),
  };
}

function toChanges(body: UpdateFileBody, now: number): FileChanges {
  const { metadata, name, access, audience, focus } = body;
  const expiresAt = readExpiry(body, now);
  if ([metadata, name, access, audience, expiresAt, focus].every((field) => field === undefined))
    throw invalid("metadata", "or name, access, audience, expiresAt, expiresIn or focus is required");
  return {
    name: name ?? null,
    metadata: metadata === undefined ? null : serialiseMetadata(metadata),
    access: access ?? null,
    setsAudience: audience === undefined ? 0 : 1,
    audience: audience ?? null,
    setsExpiry: expiresAt === undefined ? 0 : 1,
    expiresAt: expiresAt ?? null,
    setsFocus: focus === undefined ? 0 : 1,
    focus: focus ? formatFocus(focus) : null,
  };
}

function describe(changes: FileChanges, file: FileRow): string {
  const { name, metadata, access, setsAudience, setsExpiry, expiresAt, setsFocus } = changes;
  return [
    name === null ? "" : `Renamed to "${name}".`,
    metadata === null ? "" : `Metadata of "${file.name}" was replaced.`,
    access === null ? "" : `"${file.name}" was made ${access}.`,
    setsAudience === 0 ? "" : `The audience of "${file.name}" was changed.`,
    setsExpiry === 0
      ? ""
      : `"${file.name}" ${expiresAt === null ? "no longer expires" : `expires at ${isoTime(expiresAt)}`}.`,
    setsFocus === 0 ? "" : `The focus of "${file.name}" was changed.`,
  ]
    .filter(Boolean)
    .join(" ");
}

/** Changed next in the same transaction. Without the lock, another change could come in between. */
const lockFile = statement((q, p: Scope & NamedFile & { now: number }, dialect) =>
  namedFile(q, p).$if(dialect === "postgres", (select) => select.forUpdate()),
);

/** Null leaves a column unchanged. */
interface FileChanges {
  name: string | null;
  metadata: string | null;
  access: Access | null;
  /** 1 to replace the audience, even with null. */
  setsAudience: 0 | 1;
  audience: string | null;
  /** The same for `expiresAt`. */
  setsExpiry: 0 | 1;
  expiresAt: number | null;
  /** The same for `focus`. */
  setsFocus: 0 | 1;
  focus: string | null;
}

const updateFileRow = statement((q, p: Scope & NamedFile & FileChanges & { now: number }) =>
  q
    .updateTable("file")
    .set({
      name: sql`coalesce(${p.name}, name)`,
      metadata: sql`coalesce(${p.metadata}, metadata)`,
      access: sql`coalesce(${p.access}, access)`,
      audience: sql`case when cast(${p.setsAudience} as bigint) = 1 then cast(${p.audience} as text) else audience end`,
      expires_at: sql`case when cast(${p.setsExpiry} as bigint) = 1 then cast(${p.expiresAt} as bigint) else expires_at end`,
      focus: sql`case when cast(${p.setsFocus} as bigint) = 1 then cast(${p.focus} as text) else focus end`,
      // Links revoked with the audience stay revoked when the file leaves it.
      links_revoked_at: sql`coalesce(
        (select old.revoked_at from audience_revocation as old
          where old.project_id = file.project_id and old.environment = file.environment
            and old.audience = file.audience and old.revoked_at > file.links_revoked_at
            and cast(${p.setsAudience} as bigint) = 1),
        links_revoked_at)`,
      updated_at: p.now,
    })
    .where("id", "=", p.id)
    .where(isNamed(p))
    .where("project_id", "=", p.projectId)
    .where("environment", "=", p.environment)
    .where("status", "<>", "DELETED")
    .where(notEnded(p.now))
    .returningAll(),
);

type Claimed = { id: string; key: string }[];

/**
 * Keeps files that would be deleted otherwise. Files that need no claim count as claimed, so the call can be repeated.
 * Of a claim and the end of a file, one wins.
 */
export async function claimFiles(
  deps: Deps,
  { projectId, environment }: Pick<Actor, "projectId" | "environment">,
  keysOrIds: string[],
  onSaved: (tx: Queryable, claimed: Claimed) => Promise<void>,
): Promise<Claimed> {
  const scope = { projectId, environment };
  const now = deps.now();
  const named = { ...scope, ...nameFiles(keysOrIds), now };
  return deps.db.transact(async (tx) => {
    const files = await tx.all(claimFileRows, named);
    for (const file of files)
      await writeLog(tx, now, {
        ...scope,
        type: "file.claimed",
        message: `"${file.name}" was claimed.`,
        file,
      });
    // Those that were just claimed are among them.
    const claimed = await tx.all(listClaimed, named);
    const [first] = claimed;
    if (first !== undefined)
      await recordUnlessKey(tx, now, deps.author, {
        action: "file.updated",
        target: { kind: "files", id: first.id },
        projectId,
        after: { ids: claimed.map(({ id }) => id) },
      });
    await onSaved(tx, claimed);
    return claimed;
  });
}
