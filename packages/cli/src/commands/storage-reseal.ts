import type { Command } from "../command.ts";
import { withCustomerStorage } from "../customer-storage.ts";

export const storageReseal: Command = {
  name: "storage reseal",
  summary: "Re-encrypt all bucket credentials with the first secret in UPSTOW_SECRET",
  notes:
    "Run it after adding a new secret at the front. The old one is no longer needed for credentials afterwards.",
  async run(call) {
    const { resealCredentials } = await import("@upstow/server/projects/customer-storage/customer-stores");
    const count = await withCustomerStorage(call, resealCredentials);
    return { json: { resealed: count }, text: `Re-encrypted the credentials of ${count} buckets.` };
  },
};
