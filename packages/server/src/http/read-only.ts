import type { FastifyInstance } from "fastify";
import { DatabaseReadOnly } from "../db/database.ts";
import type { RelocationName } from "../db/schema.ts";
import { statement } from "../db/statement.ts";
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
    else log.info("the installation takes changes again");
  }
  await look();
  return { isOn: () => isOn, look };
}

const retryAfterSec = 30;

/** The error for every change while the installation is being moved. */
export class ReadOnlyError extends AppError {
  constructor() {
    super("SERVICE_UNAVAILABLE", "The service is being moved and takes no changes for the moment.", {
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

export const insertReason = statement((q, p: { reason: RelocationName; since: number }) =>
  q
    .insertInto("read_only")
    .values({ reason: p.reason, since: p.since })
    .onConflict((conflict) => conflict.column("reason").doNothing()),
);

export const deleteReason = statement((q, p: { reason: RelocationName }) =>
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
