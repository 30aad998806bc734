import { ConfigError } from "../../config.ts";
import type { Database } from "../../db/database.ts";
import { listReasons } from "../../http/read-only/queries.ts";
import { findInstallation } from "../../projects/accounts/queries.ts";

/** Opens the embedded database of the data directory; null where there is none. */
export type OpenFormer = () => Database | null;

/**
 * At start, on PostgreSQL. Begun anew on an empty database while the embedded one is on its way there, the service
 * would hand out other keys over the same files, and leave no empty database for the move.
 */
export async function refuseEmptyTarget(db: Database, openFormer: OpenFormer): Promise<void> {
  if ((await db.get(findInstallation, {})) !== null) return;
  const former = openFormer();
  if (former === null) return;
  try {
    if (!(await isBeingMoved(former))) return;
  } finally {
    await former.close();
  }
  throw new ConfigError(
    "UPSTOW_DATABASE_URL names an empty database while the installation in UPSTOW_DATA_DIR is being moved; run `upstow migrate database` first, or leave the variable out",
  );
}

async function isBeingMoved(former: Database): Promise<boolean> {
  try {
    return (await former.all(listReasons, {})).length > 0;
  } catch {
    // What this version cannot read was not begun to be moved by it.
    return false;
  }
}
