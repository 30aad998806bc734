import type { Command } from "../command.ts";
import { projectOption, withCustomerStorage } from "../customer-storage.ts";

export const storageRemove: Command = {
  name: "storage remove",
  summary: "Let a project's new files go to the service's own storage again",
  options: projectOption,
  notes: "Refused as long as the bucket holds files of the project.",
  async run(call) {
    const { removeStorage } = await import("@upstow/server/projects/customer-storage/customer-storage");
    const projectId = call.options.get("project");
    await withCustomerStorage(call, (deps) => removeStorage(deps, projectId));
    return {
      json: { projectId, removed: true },
      text: `Project ${projectId} has no bucket of its own any more; its credentials are forgotten.`,
    };
  },
};
