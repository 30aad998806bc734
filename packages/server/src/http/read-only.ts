import type { FastifyInstance } from "fastify";
import { type Database, DatabaseReadOnly, type Migrating } from "../db/database.ts";
import type { RelocationName } from "../db/schema.ts";
import { type DialectName, statement } from "../db/statement.ts";
import { type TableName, tableNames } from "../db/table-names.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../kernel/errors.ts";

/** Whether the installation is being moved, as far as this process knows; the database always knows. */
export interface ReadOnlyMode {
  isOn(): boolean;
  /** Checks the database again. */
  look(): Promise<void>;
}

export async function openReadOnlyMode({
  config,
  db,
  log,
}: Pick<Deps, "config" | "db" | "log">): Promise<ReadOnlyMode> {
  let isOn = false;
  /** For a disk that was replaced by a bucket; checked after the reasons, the last of which ends with the switch. */
  async function isLeftBehind(): Promise<boolean> {
    if (config.s3 !== null) return false;
    const storage = await db.recall(findRelocation, { name: "storage" });
    return storage?.state === "switching" || storage?.state === "done";
  }
  async function look(): Promise<void> {
    const reasons = await db.recallAll(listReasons, {});
    const wasOn = isOn;
    isOn = reasons.length > 0 || (await isLeftBehind());
    if (isOn === wasOn) return;
    const moving = reasons.map(({ reason }) => reason);
    if (isOn) log.warn({ moving }, "the installation is being moved: it is read-only from now on");
    else log.info("the installation accepts changes again");
  }
  await look();
  return { isOn: () => isOn, look };
}

const retryAfterSec = 30;

/** The error for every change while the installation is being moved. */
export class ReadOnlyError extends AppError {
  constructor() {
    super("SERVICE_UNAVAILABLE", "The service is being moved and is read-only for now.", {
      suggestion: "Nothing was changed. Try again in a few minutes; files can be read meanwhile.",
      headers: { "retry-after": String(retryAfterSec) },
    });
  }
}

/** For side-effect writes of read requests: they have to wait, but the reader does not. */
export async function unlessReadOnly(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof DatabaseReadOnly)) throw error;
  }
}

// bounded: one row per kind of move
export const listReasons = statement((q, _: object) =>
  q.selectFrom("read_only").selectAll().orderBy("reason"),
);

const insertReason = statement((q, p: { reason: RelocationName; since: number }) =>
  q
    .insertInto("read_only")
    .values({ reason: p.reason, since: p.since })
    .onConflict((conflict) => conflict.column("reason").doNothing()),
);

const deleteReason = statement((q, p: { reason: RelocationName }) =>
  q.deleteFrom("read_only").where("reason", "=", p.reason),
);

export const findRelocation = statement((q, p: { name: RelocationName }) =>
  q.selectFrom("relocation").selectAll().where("name", "=", p.name),
);

const reading = ["GET", "HEAD", "OPTIONS"];

/** Rejects changes while the installation is being moved, before anything is looked up. */
export function refuseChanges(app: FastifyInstance, mode: ReadOnlyMode): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const isRefused =
      mode.isOn() && !reading.includes(request.method) && !isExempt(request.routeOptions.config);
    if (isRefused) done(new ReadOnlyError());
    else done();
  });
}

const isExempt = (config: { whileReadOnly?: boolean } | undefined) => config?.whileReadOnly === true;

/** Tables that stay writable: limits are still counted, and the move keeps a journal. */
const writable: TableName[] = [
  "migration",
  "rate_window",
  "read_only",
  "relocation",
  "relocated_object",
  "relocated_table",
];
const guarded = tableNames.filter((name) => !writable.includes(name));
const changes = ["insert", "update", "delete"];

/**
 * From here on no row can change: triggers reject it, so that nothing in flight slips through. The running service sees
 * the reason within a second and rejects changes by itself.
 */
export function enterReadOnly(db: Database, reason: RelocationName, now: number): Promise<void> {
  return migrateAlone(db, async (tx) => {
    const isOn = (await tx.all(listReasons, {})).length > 0;
    await tx.run(insertReason, { reason, since: now });
    if (!isOn) await tx.script(lock(db.dialect));
  });
}

/** `lastChanges` are made in the same transaction, so no other change comes before them. */
export function leaveReadOnly(
  db: Database,
  reason: RelocationName,
  lastChanges: (tx: Migrating) => Promise<void> = async () => {},
): Promise<void> {
  return migrateAlone(db, async (tx) => {
    const ended = await tx.run(deleteReason, { reason });
    const isStillOn = (await tx.all(listReasons, {})).length > 0;
    if (ended > 0 && !isStillOn) await tx.script(unlock(db.dialect));
    await lastChanges(tx);
  });
}

/** PostgreSQL: these never change again, even if an unaware process is still running. */
export function closeForGood(tables: TableName[]): string {
  const triggers = tables.map(
    (table) =>
      `CREATE TRIGGER closed BEFORE INSERT OR UPDATE OR DELETE ON ${table} EXECUTE FUNCTION refuse_for_good();`,
  );
  return [refusal("refuse_for_good"), ...triggers].join("\n");
}

function lock(dialect: DialectName): string {
  if (dialect === "sqlite") {
    const refuse = (table: string, change: string) =>
      `CREATE TRIGGER read_only_${table}_${change} BEFORE ${change} ON ${table} BEGIN SELECT RAISE(ABORT, 'read-only'); END;`;
    return guarded.flatMap((table) => changes.map((change) => refuse(table, change))).join("\n");
  }
  const triggers = guarded.map(
    (table) =>
      `CREATE TRIGGER read_only BEFORE INSERT OR UPDATE OR DELETE ON ${table} EXECUTE FUNCTION refuse_change();`,
  );
  return [refusal("refuse_change"), ...triggers].join("\n");
}

function refusal(name: string): string {
  return `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'read-only' USING ERRCODE = 'UP001'; END $$;`;
}

/** A table added by an update in the meantime has no trigger. */
function unlock(dialect: DialectName): string {
  if (dialect === "sqlite") {
    return guarded
      .flatMap((table) => changes.map((change) => `DROP TRIGGER IF EXISTS read_only_${table}_${change};`))
      .join("\n");
  }
  return [
    ...guarded.map((table) => `DROP TRIGGER IF EXISTS read_only ON ${table};`),
    "DROP FUNCTION IF EXISTS refuse_change();",
  ].join("\n");
}

const mostAttempts = 20;
const deadlock = "40P01";

/** Creating a trigger can deadlock with writers; PostgreSQL then aborts one of the two. */
async function migrateAlone(db: Database, work: (tx: Migrating) => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.migrate(work);
    } catch (error) {
      if (attempt >= mostAttempts || (error as { code?: unknown }).code !== deadlock) throw error;
    }
  }
}
