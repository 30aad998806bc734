import type { Command } from "../command.ts";
import { projectOption, withCustomerStorage } from "../customer-storage.ts";

export const storageProbe: Command = {
  name: "storage probe",
  summary: "Test a project's bucket: permissions, clock, and whether browsers may upload",
  options: projectOption,
  notes: "Exits with code 1 if the service cannot use the bucket.",
  async run(call) {
    const { probeStorage } = await import("@upstow/server/projects/customer-storage/customer-storage");
    const projectId = call.options.get("project");
    const probe = await withCustomerStorage(call, (deps) => probeStorage(deps, projectId));
    const { unusable, refused, allowsBrowsers } = probe;
    const lines = [
      ...(unusable === null ? [] : [`✖ The bucket cannot be used: ${unusable}.`]),
      ...refused.map(
        ({ act, reason }) => `${act === "list" ? "!" : "✖"} The key is not allowed to ${act}: ${reason}.`,
      ),
      ...(allowsBrowsers === false
        ? [
            "! Browsers may not upload to it, or can't read the ETag: set its CORS rule as described in docs/s3.md.",
          ]
        : []),
    ];
    return {
      json: { projectId, ...probe },
      text: probe.ok ? ["✔ The bucket works.", ...lines].join("\n") : lines.join("\n"),
      ok: probe.ok,
    };
  },
};
