import type { Deps } from "@upstow/server/deps";
import type { Call } from "./command.ts";
import { withDatabase } from "./with-database.ts";

type StorageDeps = Pick<Deps, "db" | "keyring" | "customerBuckets" | "now">;

/** Runs `work` with what customers' buckets need beside the database. */
export async function withCustomerStorage<T>(
  call: Call,
  work: (deps: StorageDeps) => Promise<T>,
): Promise<T> {
  const { createCustomerBuckets, openKeyring } = await import("@upstow/server/compose");
  return withDatabase(call, ({ config, db, now }) =>
    work({ db, now, keyring: openKeyring(config), customerBuckets: createCustomerBuckets(config) }),
  );
}

export const projectOption = {
  project: { value: "ID", description: "the project's id", isRequired: true },
} as const;
