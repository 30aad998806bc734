import { LIST_MAX } from "@upstow/contract";
import type { QueryCreator } from "#kysely";
import type { Schema } from "../db/schema.ts";
import { statement } from "../db/statement.ts";

/** Projects that the account owns or is a member of. */
const accessible = (q: QueryCreator<Schema>, accountId: string) =>
  q
    .selectFrom("project")
    .leftJoin("project_member", (join) =>
      join
        .onRef("project_member.project_id", "=", "project.id")
        .on("project_member.account_id", "=", accountId),
    )
    .where("project.deleted_at", "is", null)
    .where((where) =>
      where.or([
        where("project.account_id", "=", accountId),
        where("project_member.account_id", "is not", null),
      ]),
    );

/** The project with what its account may do, and how the asking account stands to it; no row for strangers. */
export const findAccess = statement((q, p: { projectId: string; accountId: string }) =>
  accessible(q, p.accountId)
    .innerJoin("account", "account.id", "project.account_id")
    .where("project.id", "=", p.projectId)
    .select([
      "project.id as projectId",
      "project.store_id as storeName",
      "project.cdn_url as cdnUrl",
      "account.id as accountId",
      "account.tier as tier",
      "account.rate_upload as rateUpload",
      "account.rate_transform as rateTransform",
      "account.rate_other as rateOther",
      "account.transform_units as transformUnits",
      "project_member.role as memberRole",
    ]),
);

/** The buckets that projects of the account keep files in. */
export const listAccessibleStores = statement((q, p: { accountId: string }) =>
  accessible(q, p.accountId)
    .innerJoin("customer_store", "customer_store.project_id", "project.id")
    .select("customer_store.id as id")
    .orderBy("customer_store.id")
    .limit(LIST_MAX),
);

export const listAccessibleProjects = statement((q, p: { accountId: string }) =>
  accessible(q, p.accountId)
    .select([
      "project.id as id",
      "project.name as name",
      "project.slug as slug",
      "project.account_id as accountId",
      "project.created_at as createdAt",
      "project_member.role as memberRole",
    ])
    .orderBy("project.id", "desc")
    .limit(LIST_MAX),
);
