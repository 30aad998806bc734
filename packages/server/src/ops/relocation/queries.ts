import { type QueryCreator, type RawBuilder, sql } from "#kysely";
import type { Database, Queryable } from "../../db/database.ts";
import type { RelocationName, RelocationRow, RelocationState, Schema } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import { listReasons } from "../../http/read-only.ts";
import type { Author } from "../../kernel/actor.ts";
import { AppError } from "../../kernel/errors.ts";
import { findInstallation } from "../../projects/accounts/queries.ts";
import { record } from "../../projects/audit/record.ts";
import { apartMark } from "../../storage/storage-key.ts";

export const putRelocation = statement((q, p: RelocationRow) =>
  q
    .insertInto("relocation")
    .values({
      name: p.name,
      installation: p.installation,
      target: p.target,
      state: p.state,
      started_at: p.started_at,
      changed_at: p.changed_at,
    })
    .onConflict((conflict) =>
      conflict.column("name").doUpdateSet({
        installation: sql`excluded.installation`,
        target: sql`excluded.target`,
        state: sql`excluded.state`,
        started_at: sql`excluded.started_at`,
        changed_at: sql`excluded.changed_at`,
      }),
    ),
);

export const setState = statement((q, p: { name: RelocationName; state: RelocationState; now: number }) =>
  q.updateTable("relocation").set({ state: p.state, changed_at: p.now }).where("name", "=", p.name),
);

/** Like `setState`, but only from the state that was read, because another process may be changing it too. */
export const changeState = statement(
  (q, p: { name: RelocationName; from: RelocationState; to: RelocationState; now: number }) =>
    q
      .updateTable("relocation")
      .set({ state: p.to, changed_at: p.now })
      .where("name", "=", p.name)
      .where("state", "=", p.from),
);

interface Renaming {
  after: string;
  from: string;
  to: string;
  take: number;
}

const nextOf = (q: QueryCreator<Schema>, table: "file" | "variant" | "storage_deletion", p: Renaming) =>
  q
    .selectFrom(table)
    .select("id")
    .where("id", ">", p.after)
    .where("store", "=", p.from)
    .orderBy("id")
    .limit(p.take);

/** The ETag that the bucket gave to a copy; empty if it is not known. */
const etagOfCopy = (key: RawBuilder<string>) =>
  sql<string>`coalesce((select etag from relocated_object where relocated_object.key = ${key}), '')`;

const renameFiles = statement((q, p: Renaming) =>
  q
    .updateTable("file")
    .set({
      store: p.to,
      store_etag: etagOfCopy(
        sql`case when file.stored_apart = 1 then ${sql.lit(apartMark)} || file.key else file.key end`,
      ),
    })
    .where("id", "in", nextOf(q, "file", p))
    .returning("id"),
);
const renameVariants = statement((q, p: Renaming) =>
  q
    .updateTable("variant")
    .set({ store: p.to, store_etag: etagOfCopy(sql`variant.store_key`) })
    .where("id", "in", nextOf(q, "variant", p))
    .returning("id"),
);
const renameDeletions = statement((q, p: Renaming) =>
  q
    .updateTable("storage_deletion")
    .set({ store: p.to })
    .where("id", "in", nextOf(q, "storage_deletion", p))
    .returning("id"),
);

/** Each changes the next rows in the order of their ids; none when all are done. */
export const renameStores = [renameFiles, renameVariants, renameDeletions];

const actions = {
  storage: "installation.storage-moved",
  database: "installation.database-moved",
} as const;

/** While another move keeps the installation read-only, nothing can be recorded; its switch will be. */
export async function recordMove(
  tx: Queryable,
  author: Author,
  move: Pick<RelocationRow, "name" | "target" | "state" | "changed_at">,
): Promise<void> {
  if ((await tx.all(listReasons, {})).length > 0) return;
  await record(tx, move.changed_at, author, {
    action: actions[move.name],
    target: { kind: "installation", id: move.name },
    after: { state: move.state, target: move.target },
  });
}

export async function startMove(db: Database, author: Author, move: RelocationRow): Promise<void> {
  await db.transact(async (tx) => {
    await tx.run(putRelocation, move);
    await recordMove(tx, author, move);
  });
}

/** The name of the store in files and variants. */
export const storeNames = { from: "disk", to: "s3" };

/** Identifies the installation. Throws if the service was never started. */
export async function getInstallationId(db: Database): Promise<string> {
  const installation = await db.get(findInstallation, {});
  if (installation !== null) return installation.owner_account_id;
  throw new AppError("NOT_FOUND", "The service has never been started here, so there is nothing to move.", {
    suggestion: "Check UPSTOW_DATA_DIR.",
  });
}
