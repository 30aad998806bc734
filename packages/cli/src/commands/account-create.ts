import { text } from "node:stream/consumers";
import type { Call, Command } from "../command.ts";
import { readChoice } from "../option-values.ts";
import { withNewDatabase } from "../with-database.ts";

export const accountCreate: Command = {
  name: "account create",
  summary: "Create an account",
  options: {
    email: { value: "E", description: "the account's email address", isRequired: true },
    password: { value: "P", description: "password for the dashboard; - reads it from standard input" },
    tier: { value: "T", description: "free, pro, team or enterprise (default: free)" },
  },
  notes: `A password on the command line stays in the shell's history; "--password -" avoids that.
Also works before the service's first start, which still creates the owner's account and shows its keys.`,
  async run(call) {
    const { TIER_NAMES } = await import("@upstow/contract");
    const { createAccount } = await import("@upstow/server/projects/accounts/accounts");
    const email = call.options.get("email");
    const tier = readChoice("--tier", call.options.find("tier") ?? "free", TIER_NAMES);
    const password = await readPassword(call);
    const account = await withNewDatabase(call, (deps) => createAccount(deps, { email, password, tier }));
    return {
      json: { id: account.id, email: account.email, tier: account.tier },
      text: `Created account ${account.email} (${account.id}) on the ${account.tier} tier.
Next: upstow project create --account ${account.email} --name "My project"`,
    };
  },
};

async function readPassword({ options, stdin }: Call): Promise<string | null> {
  const given = options.find("password");
  if (given !== "-") return given ?? null;
  return (await text(stdin)).replace(/\r?\n$/, "");
}
