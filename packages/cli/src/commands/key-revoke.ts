import type { Command } from "../command.ts";
import { clean } from "../format.ts";
import { withDatabase } from "../with-database.ts";

export const keyRevoke: Command = {
  name: "key revoke",
  summary: "Revoke an API key immediately, on every instance",
  positionals: [{ name: "id", description: "the key's id, not its secret" }],
  async run(call) {
    const { revokeAnyKey } = await import("@upstow/server/projects/api-keys/api-keys");
    const [id = ""] = call.positionals;
    const key = await withDatabase(call, (deps) => revokeAnyKey(deps, id));
    return {
      json: { id: key.id, revoked: true },
      text: `Revoked key "${clean(key.name)}" (${key.prefix}). Requests with it are now rejected.`,
    };
  },
};
