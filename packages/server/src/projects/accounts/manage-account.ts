import { PROJECT_NAME_MAX, type TierName } from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import type { AccountTable } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { AppError, invalid } from "../../kernel/errors.ts";
import { createProject } from "../projects.ts";
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

export interface AccountChange {
  tier?: TierName;
  limits?: OwnLimitsChange;
}

/** All of it or nothing. Holds from the next request on: every request reads its account. */
export async function changeAccount(
  deps: OperatorDeps,
  emailText: string,
  { tier, limits }: AccountChange,
): Promise<AccountTable> {
  const email = normalizeEmail(emailText);
  const now = deps.now();
  return deps.db.transact(async (tx) => {
    const account =
      tier === undefined
        ? await tx.get(findAccountByEmail, { email })
        : await tx.get(setTier, { email, tier, now });
    if (account === null) throw unknownAccount(email);
    return limits === undefined ? account : changeOwnLimits(tx, now, account, limits);
  });
}

async function changeOwnLimits(
  tx: Queryable,
  now: number,
  account: AccountTable,
  change: OwnLimitsChange,
): Promise<AccountTable> {
  if (account.tier !== "enterprise") throw notEnterprise(account);
  const keep = (asked: number | null | undefined, known: number | null) =>
    asked === undefined ? known : asked;
  const changed = await tx.get(setOwnLimits, {
    id: account.id,
    rateUpload: keep(change.rateUpload, account.rate_upload),
    rateTransform: keep(change.rateTransform, account.rate_transform),
    rateOther: keep(change.rateOther, account.rate_other),
    transformUnits: keep(change.transformUnits, account.transform_units),
    now,
  });
  if (changed === null) throw unknownAccount(account.email);
  return changed;
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
    `Accounts on the ${account.tier} tier have no limits of their own; only Enterprise accounts have.`,
    { suggestion: `Move this one first: upstow account set-tier ${account.email} enterprise` },
  );
}
