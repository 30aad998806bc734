import type { Check } from "@upstow/server/features/operations/doctor/check";
import type { Command } from "../command.ts";

export const doctor: Command = {
  name: "doctor",
  summary: "Check everything the service stands on, and say how to mend what is wrong",
  notes: `Looks at configuration, disk, database, secret, clock, storage, certificate and addresses; changes nothing.
Exit code 1 when something is broken (✖); what deserves a look (!) leaves it 0.`,
  async run(call) {
    const { examineInstallation } = await import("../examine-installation.ts");
    const checks = await examineInstallation(() => call.config());
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
