import type { Database } from "../../db/database.ts";
import { AppError } from "../../kernel/errors.ts";
import { findInstallation } from "../../projects/accounts/queries.ts";

/** Tells installations apart. Throws where the service was never started. */
export async function getInstallationId(db: Database): Promise<string> {
  const installation = await db.get(findInstallation, {});
  if (installation !== null) return installation.owner_account_id;
  throw new AppError("NOT_FOUND", "The service was never started here, so there is nothing to move.", {
    suggestion: "Check UPSTOW_DATA_DIR.",
  });
}
