import type { OwnLimitsChange } from "@upstow/server/projects/accounts/accounts";
import { type Command, type Options, UsageError } from "../command.ts";
import { readNumberOrNone } from "../option-values.ts";
import { withDatabase } from "../with-database.ts";

const limits = [
  { option: "rate-upload", field: "rateUpload", least: 1 },
  { option: "rate-transform", field: "rateTransform", least: 1 },
  { option: "rate-other", field: "rateOther", least: 1 },
  { option: "transform-units", field: "transformUnits", least: 0 },
] as const;

export const accountSetLimits: Command = {
  name: "account set-limits",
  summary: "Set custom limits for an Enterprise account; takes effect on its next request",
  positionals: [{ name: "email", description: "the account's email address" }],
  options: {
    "rate-upload": { value: "N", description: "requests to /upload/… per minute and key" },
    "rate-transform": { value: "N", description: "requests to /transforms/image per minute and key" },
    "rate-other": { value: "N", description: "all other requests per minute and key" },
    "transform-units": { value: "N", description: "transform units per month and project" },
  },
  notes: "N is a whole number, or none to go back to the usual limit. Limits you don't pass stay unchanged.",
  async run(call) {
    const change = readChange(call.options);
    const { changeAccount } = await import("@upstow/server/projects/accounts/accounts");
    const [email = ""] = call.positionals;
    const account = await withDatabase(call, (deps) => changeAccount(deps, email, { limits: change }));
    const own = {
      rateUpload: account.rate_upload,
      rateTransform: account.rate_transform,
      rateOther: account.rate_other,
      transformUnits: account.transform_units,
    };
    const lines = limits.map(({ option, field }) => `  ${option.padEnd(16)} ${own[field] ?? "as usual"}`);
    return {
      json: { id: account.id, email: account.email, tier: account.tier, ...own },
      text: [`Limits of ${account.email}:`, ...lines].join("\n"),
    };
  },
};

function readChange(options: Options): OwnLimitsChange {
  const change: OwnLimitsChange = {};
  for (const { option, field, least } of limits) {
    const value = options.find(option);
    if (value !== undefined) change[field] = readNumberOrNone(`--${option}`, value, least);
  }
  if (Object.keys(change).length === 0) {
    throw new UsageError(`Pass at least one of ${limits.map(({ option }) => `--${option}`).join(", ")}.`);
  }
  return change;
}
