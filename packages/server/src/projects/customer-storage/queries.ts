import { SHORT_LIST_MAX } from "@upstow/contract";
import type { CustomerStoreRow } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";

export const findStore = statement((q, p: { id: string }) =>
  q.selectFrom("customer_store").selectAll().where("id", "=", p.id),
);

/** Locked together with the new file, so that removing the store either waits for it or has already happened. */
export const holdStore = statement((q, p: { id: string }, dialect) =>
  q
    .selectFrom("customer_store")
    .select("id")
    .where("id", "=", p.id)
    .$if(dialect === "postgres", (select) => select.forKeyShare()),
);

/** Waits for its lock holders, so that their files are seen. The embedded engine has one writer. */
export const lockStore = statement((q, p: { id: string }, dialect) =>
  q
    .selectFrom("customer_store")
    .select("id")
    .where("id", "=", p.id)
    .$if(dialect === "postgres", (select) => select.forUpdate()),
);

/** The store of the project's new files. */
export const findStoreOfProject = statement((q, p: { projectId: string }) =>
  q
    .selectFrom("project")
    .innerJoin("customer_store", "customer_store.id", "project.store_id")
    .selectAll("customer_store")
    .where("project.id", "=", p.projectId),
);

export const listStoresOfProject = statement((q, p: { projectId: string }) =>
  q
    .selectFrom("customer_store")
    .selectAll()
    .where("project_id", "=", p.projectId)
    .orderBy("id", "desc")
    .limit(SHORT_LIST_MAX),
);

export const listStores = statement((q, p: { after: string; take: number }) =>
  q.selectFrom("customer_store").selectAll().where("id", ">", p.after).orderBy("id").limit(p.take),
);

export const insertStore = statement((q, p: CustomerStoreRow) =>
  q.insertInto("customer_store").values({
    id: p.id,
    project_id: p.project_id,
    endpoint: p.endpoint,
    region: p.region,
    bucket: p.bucket,
    prefix: p.prefix,
    force_path_style: p.force_path_style,
    sealed: p.sealed,
    created_at: p.created_at,
    updated_at: p.updated_at,
  }),
);

type Reached = Pick<CustomerStoreRow, "id" | "region" | "force_path_style" | "sealed" | "updated_at">;

/** The same bucket with different access settings. */
export const changeStore = statement((q, p: Reached) =>
  q
    .updateTable("customer_store")
    .set({
      region: p.region,
      force_path_style: p.force_path_style,
      sealed: p.sealed,
      updated_at: p.updated_at,
    })
    .where("id", "=", p.id),
);

/** Guarded by the value read, so that credentials set meanwhile are kept. */
export const resealStore = statement((q, p: { id: string; sealed: string; resealed: string }) =>
  q
    .updateTable("customer_store")
    .set({ sealed: p.resealed })
    .where("id", "=", p.id)
    .where("sealed", "=", p.sealed),
);

export const deleteStore = statement((q, p: { id: string }) =>
  q.deleteFrom("customer_store").where("id", "=", p.id),
);

export const chooseStore = statement((q, p: { projectId: string; storeId: string; now: number }) =>
  q
    .updateTable("project")
    .set({ store_id: p.storeId, updated_at: p.now })
    .where("id", "=", p.projectId)
    .where("deleted_at", "is", null)
    .returning("id"),
);

/** Guarded by the store, so that one selected meanwhile is kept. */
export const leaveStore = statement((q, p: { projectId: string; storeId: string; now: number }) =>
  q
    .updateTable("project")
    .set({ store_id: null, updated_at: p.now })
    .where("id", "=", p.projectId)
    .where("store_id", "=", p.storeId),
);

export const findProjectId = statement((q, p: { projectId: string }) =>
  q.selectFrom("project").select("id").where("id", "=", p.projectId).where("deleted_at", "is", null),
);

/** A file whose bytes exist or may still arrive; failed files have none, and deleted ones only in the trash. */
export const findHeldFile = statement((q, p: { projectId: string; storeId: string }) =>
  q
    .selectFrom("file")
    .select("id")
    .where("project_id", "=", p.projectId)
    .where("store", "=", p.storeId)
    .where((e) => e.or([e("status", "in", ["UPLOADING", "UPLOADED"]), e("purge_at", "is not", null)]))
    .limit(1),
);

/** Bytes that still have to be removed. */
export const findHeldDeletion = statement((q, p: { storeId: string }) =>
  q
    .selectFrom("storage_deletion")
    .select("id")
    .where("store", "=", p.storeId)
    .where("bytes_gone", "=", 0)
    .limit(1),
);
