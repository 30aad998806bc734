import type { Command } from "../command.ts";
import { withDatabase } from "../with-database.ts";

export const projectCreate: Command = {
  name: "project create",
  summary: "Create a project for an account",
  options: {
    account: { value: "E", description: "the account's email address", isRequired: true },
    name: { value: "N", description: "the project's name, 1 to 100 characters", isRequired: true },
  },
  async run(call) {
    const { createProjectFor } = await import("@upstow/server/projects/accounts/accounts");
    const email = call.options.get("account");
    const name = call.options.get("name");
    const project = await withDatabase(call, (deps) => createProjectFor(deps, email, name));
    return {
      json: { id: project.id, name: project.name, slug: project.slug },
      text: `Created project ${project.name} (${project.id}, slug ${project.slug}).
Next: upstow key create --project ${project.id} --type test`,
    };
  },
};
