import { type Config, ConfigError } from "../../config.ts";
import type { Database } from "../../db/database.ts";
import type { RelocationName, RelocationRow } from "../../db/schema.ts";
import { findRelocation, listReasons } from "../../http/read-only.ts";
import { checkRelocations } from "../relocation/follow-relocations.ts";
import { type Check, createChecks } from "./check.ts";

const { ok, warning, failed } = createChecks("move");

/** If both are being moved, the next step concerns the database. */
const names: RelocationName[] = ["database", "storage"];
const subjects = {
  storage: { are: "the files are", were: "the files were", finish: "upstow migrate storage --finish" },
  database: { are: "the database is", were: "the database was", finish: "upstow migrate database" },
};

/** An unfinished `upstow migrate`: it may have left the installation read-only or unable to start. */
export async function checkMove(db: Database, config: Config): Promise<Check[]> {
  const refusal = await findRefusal(db, config);
  if (refusal !== null) {
    return [
      failed(`${refusal}.`, "Do so, or undo the change of variables; the service does not start like this."),
    ];
  }
  const since = new Map((await db.all(listReasons, {})).map((row) => [row.reason, row.since]));
  for (const name of names) {
    const move = await db.get(findRelocation, { name });
    const readOnlySince = since.get(name);
    if (move !== null && readOnlySince !== undefined) return [describeReadOnly(move, readOnlySince)];
    if (move?.state === "copying") return [describeCopying(move)];
  }
  return [];
}

async function findRefusal(db: Database, config: Config): Promise<string | null> {
  try {
    await checkRelocations({ config, db, log: { warn() {} } });
    return null;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

function describeReadOnly({ name, state, target }: RelocationRow, since: number): Check {
  const { are, were, finish } = subjects[name];
  const readOnly = `The installation has been read-only since ${new Date(since).toISOString()}`;
  const orGiveUp = `or cancel the move with \`upstow migrate ${name} --abort\` to accept changes again.`;
  return state === "copied"
    ? warning(
        `${readOnly}: ${were} copied to ${target}, but the service has not been restarted there yet.`,
        `Restart it with the variables printed by \`${finish}\` (run it again if needed), ${orGiveUp}`,
      )
    : warning(
        `${readOnly}: ${are} being moved to ${target}.`,
        `Wait for \`${finish}\` to finish, run it again if it was interrupted, ${orGiveUp}`,
      );
}

function describeCopying({ name, target }: RelocationRow): Check {
  const { are, finish } = subjects[name];
  return ok(`${are} being copied to ${target} while the service is in use; \`${finish}\` completes the move`);
}
