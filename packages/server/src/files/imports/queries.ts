import { IMPORTS_AT_ONCE, type ImportFailureReason } from "@upstow/contract";
import { sql } from "#kysely";
import type { FileImportRow } from "../../db/files-schema.ts";
import { statement } from "../../db/statement.ts";
import { notEnded } from "../life.ts";

type NewImport = Pick<
  FileImportRow,
  "file_id" | "project_id" | "account_id" | "url_sealed" | "guesses_type"
> & {
  run_at: number;
};

export const insertImport = statement((q, p: NewImport) =>
  q.insertInto("file_import").values({
    file_id: p.file_id,
    project_id: p.project_id,
    account_id: p.account_id,
    url_sealed: p.url_sealed,
    guesses_type: p.guesses_type,
    received_bytes: 0,
    attempts: 0,
    run_at: p.run_at,
  }),
);

export const findImport = statement((q, p: { fileId: string }) =>
  q.selectFrom("file_import").selectAll().where("file_id", "=", p.fileId),
);

/** Imports whose worker died. They keep their slots. */
export const listExpired = statement((q, p: { now: number; take: number }) =>
  q
    .selectFrom("file_import")
    .select(["file_id", "account_id"])
    .where("slot", "is not", null)
    .where("run_at", "<=", p.now)
    .orderBy("run_at")
    .limit(p.take),
);

// Literals, to match the index of waiting imports.
const waiting = sql`file_import where slot is null and run_at is not null`;

/**
 * The import that each account would start next; accounts with the fewest running ones first. Finds one account after
 * another in the index: one that has 500,000 waiting costs as little as one with a single one.
 */
export const listNext = statement((q, p: { now: number; take: number }) =>
  q
    .withRecursive("owner", (db) =>
      db
        .selectNoFrom(sql<string | null>`(select min(account_id) from ${waiting})`.as("id"))
        .unionAll((all) =>
          all
            .selectFrom("owner")
            .select(
              sql<string | null>`(select min(account_id) from ${waiting} and account_id > owner.id)`.as("id"),
            )
            .where("id", "is not", null),
        ),
    )
    .selectFrom((from) =>
      from
        .selectFrom("owner")
        .select([
          sql<string>`id`.as("account_id"),
          sql<string | null>`(select file_id from ${waiting} and account_id = owner.id
            and run_at <= cast(${p.now} as bigint) order by file_id limit 1)`.as("file_id"),
          sql<number>`(select count(*) from file_import
            where account_id = owner.id and slot is not null)`.as("running"),
        ])
        .where("id", "is not", null)
        // bounded: one row per account
        .as("next"),
    )
    .select(["account_id", "running", sql<string>`file_id`.as("file_id")])
    .where("file_id", "is not", null)
    .where("running", "<", IMPORTS_AT_ONCE.account)
    .orderBy("running")
    .orderBy("file_id")
    .limit(p.take),
);

export const listSlots = statement((q, p: { accountId: string }) =>
  q
    .selectFrom("file_import")
    .select(["file_id", "slot"])
    .where("account_id", "=", p.accountId)
    .where("slot", "is not", null)
    .limit(IMPORTS_AT_ONCE.account),
);

interface Claiming {
  fileId: string;
  slot: number;
  token: string;
  now: number;
  leaseUntil: number;
}

/** The unique index on slots enforces the account's limit: of two workers that pick the same slot, one fails. */
export const claimImport = statement((q, p: Claiming) =>
  q
    .updateTable("file_import")
    .set({
      slot: p.slot,
      token: p.token,
      run_at: p.leaseUntil,
      attempts: sql`attempts + 1`,
      started_at: sql`coalesce(started_at, cast(${p.now} as bigint))`,
    })
    .where("file_id", "=", p.fileId)
    .where("run_at", "<=", p.now)
    .where((where) => where.or([where("slot", "is", null), where("slot", "=", p.slot)]))
    .returningAll(),
);

export interface Held {
  fileId: string;
  token: string;
}

/** No row if another worker has it, or if the file was deleted or has expired. */
export const extendLease = statement(
  (q, p: Held & { leaseUntil: number; receivedBytes: number; totalBytes: number | null; now: number }) =>
    q
      .updateTable("file_import")
      .set({ run_at: p.leaseUntil, received_bytes: p.receivedBytes, total_bytes: p.totalBytes })
      .where("file_id", "=", p.fileId)
      .where("token", "=", p.token)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom("file")
            .select("id")
            .where("id", "=", p.fileId)
            .where("status", "=", "UPLOADING")
            .where(notEnded(p.now)),
        ),
      ),
);

/** The file's properties according to the source. */
export const noteSource = statement((q, p: Held & { etag: string | null; totalBytes: number | null }) =>
  q
    .updateTable("file_import")
    .set({ etag: p.etag, total_bytes: p.totalBytes })
    .where("file_id", "=", p.fileId)
    .where("token", "=", p.token),
);

/** The attempt counts unless `attempts` is the number before it. */
export const releaseImport = statement((q, p: Held & { runAt: number; attempts: number }) =>
  q
    .updateTable("file_import")
    .set({ slot: null, token: null, run_at: p.runAt, attempts: p.attempts })
    .where("file_id", "=", p.fileId)
    .where("token", "=", p.token),
);

export const releaseAll = statement((q, p: { now: number }) =>
  q.updateTable("file_import").set({ slot: null, token: null, run_at: p.now }).where("slot", "is not", null),
);

export const forgetImport = statement((q, p: Held) =>
  q.deleteFrom("file_import").where("file_id", "=", p.fileId).where("token", "=", p.token),
);

interface Failed extends Held {
  now: number;
  failure: ImportFailureReason;
  message: string;
}

export const keepFailure = statement((q, p: Failed) =>
  q
    .updateTable("file_import")
    .set({
      slot: null,
      token: null,
      run_at: null,
      url_sealed: "",
      etag: null,
      failed_at: p.now,
      failure: p.failure,
      message: p.message,
    })
    .where("file_id", "=", p.fileId)
    .where("token", "=", p.token),
);

export const markImportFailed = statement((q, p: { id: string; now: number }) =>
  q
    .updateTable("file")
    .set({ status: "FAILED", reserved_period: null, updated_at: p.now })
    .where("id", "=", p.id)
    .where("status", "=", "UPLOADING"),
);

/** Of a file that was deleted. One that failed shows why, even if its content was rejected before. */
export const forgetFailure = statement((q, p: { fileId: string }) =>
  q
    .deleteFrom("file_import")
    .where("file_id", "=", p.fileId)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("file").select("id").where("id", "=", p.fileId).where("status", "=", "FAILED"))),
    ),
);

export const forgetOldFailures = statement((q, p: { before: number; take: number }) =>
  q
    .deleteFrom("file_import")
    .where("file_id", "in", (inner) =>
      inner.selectFrom("file_import").select("file_id").where("failed_at", "<", p.before).limit(p.take),
    ),
);

export const findOpenFile = statement((q, p: { id: string }) =>
  q.selectFrom("file").selectAll().where("id", "=", p.id).where("status", "=", "UPLOADING"),
);

/** What a request would learn from its key. */
export const findOwner = statement((q, p: { projectId: string }) =>
  q
    .selectFrom("project")
    .innerJoin("account", "account.id", "project.account_id")
    .where("project.id", "=", p.projectId)
    .where("project.deleted_at", "is", null)
    .select([
      "project.id as projectId",
      "project.cdn_url as cdnUrl",
      "account.id as accountId",
      "account.tier as tier",
    ]),
);
