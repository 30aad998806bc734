import type { Check } from "@upstow/server/ops/doctor/check";
import type { Command } from "../command.ts";

export const doctor: Command = {
  name: "doctor",
  summary: "Check everything the service stands on, and say how to mend what is wrong",
  options: {
    fix: { description: "add the rule to the bucket that lets pages upload (CORS), where it is missing" },
  },
  notes: `Looks at configuration, disk, database, secret, clock, storage, Redis, renderers, certificate and addresses. In a
bucket it writes, reads, copies and removes a few small objects below the service's prefix. Changes nothing else without
--fix. What holds renderers depends on the user: run it as the service does.
Exit code 1 when something is broken (✖); what deserves a look (!) leaves it 0.`,
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
  if (broken === 0 && noted === 0) return "All is well.";
  return `${broken} broken, ${noted} worth a look.`;
}
