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
    "If the account is over the new tier's limits, it keeps everything, but can't add more until it is below them. Setting a tier, including free, lets an account that was created by an invitation own projects.",
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
