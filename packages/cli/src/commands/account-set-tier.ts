import type { Command } from "../command.ts";
import { readChoice } from "../option-values.ts";
import { withDatabase } from "../with-database.ts";

export const accountSetTier: Command = {
  name: "account set-tier",
  summary: "Move an account to another tier; takes effect on its next request",
  positionals: [
    { name: "email", description: "the account's email address" },
    { name: "tier", description: "free, pro, team or enterprise" },
  ],
  notes:
    "What an account has beyond a smaller tier's limits stays; it can make nothing more until it is below them. An account that was created by an invitation can own projects once its tier was set, to free as well.",
  async run(call) {
    const { TIER_NAMES } = await import("@upstow/contract");
    const { changeAccount } = await import("@upstow/server/projects/accounts/accounts");
    const [email = "", tierText = ""] = call.positionals;
    const tier = readChoice("<tier>", tierText, TIER_NAMES);
    const account = await withDatabase(call, (deps) => changeAccount(deps, email, { tier }));
    return {
      json: { id: account.id, email: account.email, tier: account.tier },
      text: `${account.email} is now on the ${account.tier} tier.`,
    };
  },
};
