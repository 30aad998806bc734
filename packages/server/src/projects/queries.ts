import { LIST_MAX } from "@upstow/contract";
import { sql } from "#kysely";
import type { ProjectRow } from "../db/schema.ts";
import { statement } from "../db/statement.ts";
import { periodRows, totalRows } from "./usage/shares.ts";

export const listProjects = statement((q, p: { accountId: string }) =>
  q
    .selectFrom("project")
    .selectAll()
    .where("account_id", "=", p.accountId)
    .where("deleted_at", "is", null)
    .orderBy("id", "desc")
    .limit(LIST_MAX),
);

export const findProject = statement((q, p: { id: string; accountId: string }) =>
  q
    .selectFrom("project")
    .selectAll()
    .where("id", "=", p.id)
    .where("account_id", "=", p.accountId)
    .where("deleted_at", "is", null),
);

/** Reserves one of the account's project slots; no row if all are used or it may own none. The condition is the lock. */
export const takeProjectPlace = statement((q, p: { accountId: string; limit: number }) =>
  q
    .updateTable("account")
    .set({ project_count: sql`project_count + 1` })
    .where("id", "=", p.accountId)
    .where("project_count", "<", p.limit)
    .where("may_own_projects", "=", 1)
    .returning("id"),
);

export const findOwningRight = statement((q, p: { accountId: string }) =>
  q.selectFrom("account").select("may_own_projects as mayOwnProjects").where("id", "=", p.accountId),
);

export const freeProjectPlace = statement((q, p: { accountId: string }) =>
  q.updateTable("account").set({ project_count: sql`project_count - 1` }).where("id", "=", p.accountId),
);

export const insertProject = statement(
  (q, p: Pick<ProjectRow, "id" | "account_id" | "name" | "slug" | "created_at" | "updated_at">) =>
    q
      .insertInto("project")
      .values({
        id: p.id,
        account_id: p.account_id,
        name: p.name,
        slug: p.slug,
        key_count: 0,
        // The default route, which every project starts with.
        route_count: 1,
        created_at: p.created_at,
        updated_at: p.updated_at,
        deleted_at: null,
        store_id: null,
        cdn_url: null,
        is_counted: 1,
        trash_days: 0,
      })
      .returningAll(),
);

/** Null leaves a column unchanged. */
export interface ProjectChanges {
  name: string | null;
  trashDays: number | null;
  imageWidths: string | null;
  imageQualities: string | null;
  imagePresets: string | null;
}

interface ChangedProject extends ProjectChanges {
  id: string;
  accountId: string;
  now: number;
}

export const updateProjectRow = statement((q, p: ChangedProject) =>
  q
    .updateTable("project")
    .set({
      name: sql`coalesce(${p.name}, name)`,
      trash_days: sql`coalesce(cast(${p.trashDays} as bigint), trash_days)`,
      image_widths: sql`coalesce(${p.imageWidths}, image_widths)`,
      image_qualities: sql`coalesce(${p.imageQualities}, image_qualities)`,
      image_presets: sql`coalesce(${p.imagePresets}, image_presets)`,
      updated_at: p.now,
    })
    .where("id", "=", p.id)
    .where("account_id", "=", p.accountId)
    .where("deleted_at", "is", null)
    .returningAll(),
);

export const deleteProjectRow = statement((q, p: { id: string; accountId: string; now: number }) =>
  q
    .updateTable("project")
    // A job empties the trash.
    .set({ deleted_at: p.now, updated_at: p.now, key_count: 0, trash_days: sql.lit(-1) })
    .where("id", "=", p.id)
    .where("account_id", "=", p.accountId)
    .where("deleted_at", "is", null)
    .returning(["id", "name", "slug"]),
);

/**
 * Deleted projects that are empty stop counting: no bytes or open uploads, and no usage in this period.
 * Nothing can be added to them, because their keys are revoked.
 */
export const forgetEmptyProjects = statement((q, p: { accountId: string; period: string }, dialect) =>
  q
    .updateTable("project")
    .set({ is_counted: 0 })
    .where("account_id", "=", p.accountId)
    .where(sql<boolean>`is_counted = 1`)
    .where("deleted_at", "is not", null)
    .where(
      sql<boolean>`coalesce((select sum(stored_bytes + reserved_bytes) from ${totalRows(dialect)} as total
        where total.project_id = project.id), 0) <= 0`,
    )
    .where(
      sql<boolean>`coalesce((select sum(uploads + reserved_uploads + transform_units)
        from ${periodRows(dialect)} as month
        where month.project_id = project.id and period >= ${p.period}), 0) <= 0`,
    ),
);

// bounded: DELETED_PROJECTS_MAX
export const countDeletedProjects = statement((q, p: { accountId: string }) =>
  q
    .selectFrom("project")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("account_id", "=", p.accountId)
    .where(sql<boolean>`is_counted = 1`)
    .where("deleted_at", "is not", null),
);
