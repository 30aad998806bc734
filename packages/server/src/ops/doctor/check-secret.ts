import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import type { Database } from "../../db/database.ts";
import type { Keyring } from "../../kernel/security/keyring.ts";
import { findInstallation } from "../../projects/accounts/queries.ts";
import { type Check, createChecks } from "./check.ts";

const { ok, warning, failed } = createChecks("secret");

/** Without its secret, an installation can neither decrypt sealed values nor verify URLs it signed. */
export async function checkSecret(db: Database, config: Config, keyring: Keyring | null): Promise<Check[]> {
  const installation = await db.get(findInstallation, {});
  const path = join(config.dataDir, "secret");
  const isFile = config.secrets === null;
  if (keyring === null) {
    if (installation === null) return [];
    return [failed(`${path} is missing.`, "Restore it from a backup, or set UPSTOW_SECRET to what it held.")];
  }
  if (installation !== null && !keyring.checks.includes(installation.secret_check)) {
    return [
      failed(
        "It is not the secret that this installation was made with.",
        isFile ? `Restore ${path} from a backup.` : "Add the former secret to UPSTOW_SECRET, behind a comma.",
      ),
    ];
  }
  if (!isFile) return [ok(`UPSTOW_SECRET holds ${keyring.checks.length} that fit`)];
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) {
    return [warning(`${path} can be read by other users of this machine.`, `chmod 600 ${path}`)];
  }
  return [ok(`${path} fits and is private; keep a copy of it`)];
}
