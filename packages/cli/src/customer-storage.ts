import type { Config } from "@upstow/server/config";
import type { Deps } from "@upstow/server/deps";
import type { Keyring } from "@upstow/server/kernel/security/keyring";
import { type Call, OperatorError } from "./command.ts";
import { withDatabase } from "./with-database.ts";

type StorageDeps = Pick<Deps, "db" | "keyring" | "customerBuckets" | "now" | "author">;

/** Runs `work` with the database and whatever customers' buckets need. */
export async function withCustomerStorage<T>(
  call: Call,
  work: (deps: StorageDeps) => Promise<T>,
): Promise<T> {
  const { createCustomerBuckets } = await import("@upstow/server/app/compose");
  return withDatabase(call, async ({ config, db, now, author }) => {
    const keyring = await getKeyring(config, db);
    return work({ db, now, author, keyring, customerBuckets: createCustomerBuckets(config) });
  });
}

/** The service could not decrypt credentials that were sealed with a different secret. */
export async function getKeyring(config: Config, db: Deps["db"]): Promise<Keyring> {
  const { openKeyring } = await import("@upstow/server/app/compose");
  const { checkSecretUnchanged } = await import("@upstow/server/app/first-start");
  const { findInstallation } = await import("@upstow/server/projects/accounts/queries");
  const { findKeyring } = await import("./find-keyring.ts");
  const installation = await db.get(findInstallation, {});
  if (installation === null) return openKeyring(config);
  const keyring = findKeyring(config);
  if (keyring === null) {
    throw new OperatorError(
      "CONFIGURATION",
      `The installation's secret is neither in UPSTOW_SECRET nor in ${config.dataDir}. Set UPSTOW_SECRET or UPSTOW_DATA_DIR as for the service.`,
    );
  }
  checkSecretUnchanged(keyring, installation.secret_check);
  return keyring;
}

export const projectOption = {
  project: { value: "ID", description: "the project's id", isRequired: true },
} as const;
