import type { Command } from "../command.ts";
import { withDatabase } from "../with-database.ts";

export const projectPurge: Command = {
  name: "project purge",
  summary: "Delete the remaining files and events of a deleted project",
  positionals: [{ name: "id", description: "the deleted project's id" }],
  notes:
    "Their URLs stop working immediately; the running service removes the bytes, or does so when it next starts.",
  async run(call) {
    const { purgeProject } = await import("@upstow/server/files/purge-project");
    const [id = ""] = call.positionals;
    const purge = await withDatabase(call, (deps) => purgeProject(deps, id));
    return {
      json: purge,
      text: `Deleted ${purge.deletedFiles} files of project ${id}, ${purge.reclaimedBytes} bytes.`,
    };
  },
};
