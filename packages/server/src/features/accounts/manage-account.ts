import { PROJECT_NAME_MAX, type TierName } from "@upstow/contract";
import type { AccountTable } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { AppError, invalid } from "../../errors.ts";
import { createProject } from "../projects/projects.ts";
import { normalizeEmail } from "./email.ts";
import { findAccountByEmail, setOwnLimits, setTier } from "./queries.ts";

type OperatorDeps = Pick<Deps, "db" | "now">;

/** Undefined keeps what is set, null goes back to what the tier allows. */
export interface OwnLimitsChange {
  rateUpload?: number | null;
  rateTransform?: number | null;
  rateOther?: number | null;
  transformUnits?: number | null;
}

/** Holds from the next request on: every request reads its account's tier. */
export async function changeTier(
  deps: OperatorDeps,
  emailText: string,
  tier: TierName,
): Promise<AccountTable> {
  const email = normalizeEmail(emailText);
  const [account] = await deps.db.change(setTier, { email, tier, now: deps.now() });
  if (account === undefined) throw unknownAccount(email);
  return account;
}

export async function changeOwnLimits(
  deps: OperatorDeps,
  emailText: string,
  change: OwnLimitsChange,
): Promise<AccountTable> {
  const email = normalizeEmail(emailText);
  const now = deps.now();
  return deps.db.transact(async (tx) => {
    const account = await tx.get(findAccountByEmail, { email });
    if (account === null) throw unknownAccount(email);
    if (account.tier !== "enterprise") throw notEnterprise(account);
    const keep = (asked: number | null | undefined, now: number | null) =>
      asked === undefined ? now : asked;
    const changed = await tx.get(setOwnLimits, {
      id: account.id,
      rateUpload: keep(change.rateUpload, account.rate_upload),
      rateTransform: keep(change.rateTransform, account.rate_transform),
      rateOther: keep(change.rateOther, account.rate_other),
      transformUnits: keep(change.transformUnits, account.transform_units),
      now,
    });
    if (changed === null) throw unknownAccount(email);
    return changed;
  });
}

export async function createProjectFor(deps: OperatorDeps, emailText: string, name: string) {
  const email = normalizeEmail(emailText);
  if (name === "" || [...name].length > PROJECT_NAME_MAX) {
    throw invalid("name", `must have 1 to ${PROJECT_NAME_MAX} characters`);
  }
  return deps.db.transact(async (tx) => {
    const account = await tx.get(findAccountByEmail, { email });
    if (account === null) throw unknownAccount(email);
    return createProject(tx, deps.now(), { accountId: account.id, tier: account.tier }, name);
  });
}

export function unknownAccount(email: string): AppError {
  return new AppError("NOT_FOUND", `There is no account ${email}.`, {
    suggestion: `Check the spelling, or make it: upstow account create --email ${email}`,
  });
}

function notEnterprise(account: AccountTable): AppError {
  return new AppError(
    "VALIDATION_ERROR",
    `${account.email} is on the ${account.tier} tier, and only Enterprise accounts have limits of their own.`,
    { suggestion: `Move it first: upstow account set-tier ${account.email} enterprise` },
  );
}
