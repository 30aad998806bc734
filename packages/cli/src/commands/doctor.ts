import type { Check } from "@upstow/server/ops/doctor/check";
import type { Command } from "../command.ts";

export const doctor: Command = {
  name: "doctor",
  summary: "Check everything the service depends on, and explain how to fix problems",
  options: {
    fix: { description: "add the CORS rule that lets pages upload to the bucket, if it is missing" },
  },
  notes: `Checks configuration, disk, database, secret, clock, storage, Redis, renderers, certificate and URLs. In a
bucket it writes, reads, copies and deletes a few small objects under the service's prefix. Changes nothing else without
--fix. The renderers' sandbox depends on the user, so run it as the user that runs the service.
Exits with code 1 if something is broken (✖); warnings (!) do not change the exit code.`,
  async run(call) {
    const { examineInstallation } = await import("../examine-installation.ts");
    const checks = await examineInstallation(() => call.config(), { mend: call.options.has("fix") });
    const ok = checks.every((check) => check.status !== "failed");
    return { json: { ok, checks }, text: [...checks.map(describe), "", conclude(checks)].join("\n"), ok };
  },
};

const marks = { ok: "✔", warning: "!", failed: "✖" };

function describe({ name, status, message, fix }: Check): string {
  const line = `${marks[status]} ${name.padEnd(15)}  ${message}`;
  return fix === undefined ? line : `${line}\n${" ".repeat(19)}→ ${fix}`;
}

function conclude(checks: Check[]): string {
  const broken = checks.filter((check) => check.status === "failed").length;
  const noted = checks.filter((check) => check.status === "warning").length;
  if (broken === 0 && noted === 0) return "No problems found.";
  return `${broken} broken, ${noted} with a warning.`;
}
