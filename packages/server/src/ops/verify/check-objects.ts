import type { Queryable } from "../../db/database.ts";
import type { FileRow } from "../../db/schema.ts";
import { isOneOf, statement } from "../../db/statement.ts";
import type { Deps } from "../../deps.ts";
import { findPendingDeletion } from "../../files/file-moves.ts";
import { keepsBytes } from "../../files/life.ts";
import { nameFile } from "../../files/serialize.ts";
import { scheduleDeletion } from "../../files/storage-deletions.ts";
import { findVariantId } from "../../serving/images/variant-signature.ts";
import { keyOfObject, objectKey } from "../../storage/storage-key.ts";
import type { OnFinding } from "./check-files.ts";

export type CheckObjectsDeps = Pick<Deps, "db" | "store" | "now">;

/**
 * An object is final before its row says so, and a copy exists before its row refers to it. Both take minutes at most;
 * this is what the hourly sweep allows as well.
 */
export const orphanAgeMs = 24 * 3_600_000;

const listOwners = statement((q, p: { idsJson: string }, dialect) =>
  q
    .selectFrom("file")
    .select(["id", "key", "stored_apart", "status", "purge_at"])
    .where(isOneOf(dialect, "id", p.idsJson)),
);
const listVariants = statement((q, p: { idsJson: string }, dialect) =>
  q
    .selectFrom("variant")
    .select("store_key")
    .where(isOneOf(dialect, "id", p.idsJson)),
);

/** Locked against a change of access, which would schedule a copy to this name. */
const lockFile = statement((q, p: { id: string }, dialect) =>
  q
    .selectFrom("file")
    .select(["id", "key", "stored_apart", "status", "purge_at"])
    .where("id", "=", p.id)
    .$if(dialect === "postgres", (select) => select.forUpdate()),
);
const findMoveOf = statement((q, p: { id: string }) =>
  q.selectFrom("file_move").select("file_id").where("file_id", "=", p.id),
);
const findProject = statement((q, p: { id: string }) =>
  q.selectFrom("project").select("id").where("id", "=", p.id),
);

type Owner = Pick<FileRow, "id" | "key" | "stored_apart" | "status" | "purge_at">;

export interface ObjectsPage {
  checked: number;
  orphaned: number;
  foreign: number;
  next: string | null;
}

/** Looks for old objects that nothing refers to. With `fix`, they are left to the deletion queue. */
export async function checkObjects(
  deps: CheckObjectsDeps,
  cursor: string,
  { fix, onFinding }: { fix: boolean; onFinding: OnFinding },
): Promise<ObjectsPage> {
  const { inventory } = deps.store;
  if (inventory === undefined) return { checked: 0, orphaned: 0, foreign: 0, next: null };
  const { keys, strays, next } = await inventory.list(cursor, deps.now() - orphanAgeMs);
  const page: ObjectsPage = {
    checked: keys.length + strays.length,
    orphaned: strays.length,
    foreign: 0,
    next,
  };
  for (const name of strays) onFinding({ kind: "orphaned-object", key: name });
  if (fix) await inventory.removeStrays(strays);
  for (const key of await listUnclaimed(deps.db, keys)) {
    // It may have been listed just before it was deleted or moved.
    const isLeft = (await decide(deps, key, false)) !== null && (await exists(deps, key));
    const verdict = isLeft ? await decide(deps, key, fix) : null;
    if (verdict === null) continue;
    onFinding({ kind: verdict, key });
    if (verdict === "orphaned-object") page.orphaned++;
    else page.foreign++;
  }
  return page;
}

/** A first look at many at once; nearly all are claimed. */
async function listUnclaimed(db: Queryable, keys: string[]): Promise<string[]> {
  const [variantKeys, fileKeys] = [keys.filter(isVariantKey), keys.filter((key) => !isVariantKey(key))];
  const owners = await db.all(listOwners, { idsJson: JSON.stringify(fileKeys.map(fileIdOf)) });
  const ownerOf = new Map(owners.map((owner) => [owner.id, owner]));
  const variants = await db.all(listVariants, { idsJson: JSON.stringify(variantKeys.map(findVariantId)) });
  const claimedVariants = new Set(variants.map((variant) => variant.store_key));
  return [
    ...fileKeys.filter((key) => !claims(ownerOf.get(fileIdOf(key)), key)),
    ...variantKeys.filter((key) => !claimedVariants.has(key)),
  ];
}

const isVariantKey = (key: string) => findVariantId(key) !== null;
const fileIdOf = (key: string) => nameFile(keyOfObject(key)).id;

/** An open upload may become final under this name at any time. */
function claims(owner: Owner | undefined | null, key: string): boolean {
  if (owner?.status === "UPLOADING") return owner.key === keyOfObject(key);
  return owner != null && keepsBytes(owner) && objectKey(owner) === key;
}

async function exists({ store }: CheckObjectsDeps, key: string): Promise<boolean> {
  const anything = { sizeBytes: 0, etag: undefined, sha256: null };
  return (await store.inspect(key, anything, { readsBytes: false })) !== "missing";
}

function decide(deps: CheckObjectsDeps, key: string, fix: boolean): Promise<Verdict> {
  return deps.db.transact((tx) => judge(tx, deps, key, fix));
}

type Verdict = "orphaned-object" | "foreign-object" | null;

async function judge(
  tx: Queryable,
  { store, now }: CheckObjectsDeps,
  key: string,
  fix: boolean,
): Promise<Verdict> {
  const id = fileIdOf(key);
  if (isVariantKey(key)) {
    const variants = await tx.all(listVariants, { idsJson: JSON.stringify([findVariantId(key)]) });
    if (variants.some((variant) => variant.store_key === key)) return null;
  } else {
    if (claims(await tx.get(lockFile, { id }), key)) return null;
    if ((await tx.get(findMoveOf, { id })) !== null) return null;
  }
  if ((await tx.get(findPendingDeletion, { store: store.name, key })) !== null) return null;
  const [projectId = ""] = keyOfObject(key).split("/", 1);
  if ((await tx.get(findProject, { id: projectId })) === null) return "foreign-object";
  if (fix) await scheduleDeletion(tx, now(), { store: store.name, key, upload_id: null });
  return "orphaned-object";
}
