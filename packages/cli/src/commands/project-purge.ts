import type { Command } from "../command.ts";
import { withDatabase } from "../with-database.ts";

export const projectPurge: Command = {
  name: "project purge",
  summary: "Delete the files and events that a deleted project left behind",
  positionals: [{ name: "id", description: "the deleted project's id" }],
  notes: "Their addresses stop working at once; the running service, or its next start, removes the bytes.",
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
