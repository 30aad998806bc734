import type { Command } from "../command.ts";
import { projectOption, withCustomerStorage } from "../customer-storage.ts";

export const storageRemove: Command = {
  name: "storage remove",
  summary: "Store a project's new files in the service's own storage again",
  options: projectOption,
  notes: "Fails while the bucket still has files of the project.",
  async run(call) {
    const { removeStorage } = await import("@upstow/server/projects/customer-storage/customer-storage");
    const projectId = call.options.get("project");
    await withCustomerStorage(call, (deps) => removeStorage(deps, projectId));
    return {
      json: { projectId, removed: true },
      text: `Project ${projectId} no longer uses its own bucket; its credentials were deleted.`,
    };
  },
};
