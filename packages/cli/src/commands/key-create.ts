import type { Command } from "../command.ts";
import { readChoice } from "../option-values.ts";
import { withDatabase } from "../with-database.ts";

export const keyCreate: Command = {
  name: "key create",
  summary: "Create an API key; its secret is shown only once",
  options: {
    project: { value: "ID", description: "the project's id", isRequired: true },
    type: { value: "live|test", description: "live, or test for the sandbox", isRequired: true },
    name: { value: "N", description: "what the key is for" },
  },
  async run(call) {
    const { ENVIRONMENTS } = await import("@upstow/contract");
    const { createKeyFor } = await import("@upstow/server/projects/api-keys/api-keys");
    const type = readChoice("--type", call.options.get("type"), ENVIRONMENTS);
    const wanted = {
      projectId: call.options.get("project"),
      type,
      name: call.options.find("name") ?? `${type} key`,
    };
    const { key, secret } = await withDatabase(call, (deps) => createKeyFor(deps, wanted));
    return {
      json: { id: key.id, secret, prefix: key.prefix, type: key.type, projectId: key.project_id },
      text: `Created ${key.type} key "${key.name}" (${key.id}). Save its secret now; it is never shown again:
${secret}`,
    };
  },
};
