import { hash, randomBytes } from "node:crypto";
import { PROJECT_NAME_MAX, type TierName } from "@upstow/contract";
import type { Queryable } from "../../db/database.ts";
import type { AccountRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { AppError, invalid } from "../../kernel/errors.ts";
import { createId } from "../../kernel/ids.ts";
import { hashPassword } from "../../kernel/security/passwords.ts";
import { record } from "../audit/record.ts";
import { createProject } from "../projects.ts";
import {
  findAccountByEmail,
  findInstallationOwner,
  insertAccount,
  insertLoginLink,
  setOwnLimits,
  setTier,
} from "./queries.ts";

type OperatorDeps = Pick<Deps, "db" | "now" | "author">;

/** Undefined keeps the current value, null resets it to the tier's. */
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

/** All or nothing. Takes effect on the next request, because every request reads its account. */
export async function changeAccount(
  deps: OperatorDeps,
  emailText: string,
  { tier, limits }: AccountChange,
): Promise<AccountRow> {
  const email = normalizeEmail(emailText);
  const now = deps.now();
  return deps.db.transact(async (tx) => {
    const before = await tx.get(findAccountByEmail, { email });
    const account = tier === undefined ? before : await tx.get(setTier, { email, tier, now });
    if (before === null || account === null) throw unknownAccount(email);
    const changed = limits === undefined ? account : await changeOwnLimits(tx, now, account, limits);
    await record(tx, now, deps.author, {
      action: "account.updated",
      target: { kind: "account", id: account.id, label: email },
      accountId: account.id,
      before,
      after: changed,
    });
    return changed;
  });
}

async function changeOwnLimits(
  tx: Queryable,
  now: number,
  account: AccountRow,
  change: OwnLimitsChange,
): Promise<AccountRow> {
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
    return createProject(
      tx,
      deps.now(),
      { accountId: account.id, tier: account.tier, author: deps.author },
      name,
    );
  });
}

export function unknownAccount(email: string): AppError {
  return new AppError("NOT_FOUND", `There is no account ${email}.`, {
    suggestion: `Check the spelling, or create it: upstow account create --email ${email}`,
  });
}

function notEnterprise(account: AccountRow): AppError {
  return new AppError(
    "VALIDATION_ERROR",
    `Only Enterprise accounts can have custom limits; this one is on the ${account.tier} tier.`,
    { suggestion: `Move this one first: upstow account set-tier ${account.email} enterprise` },
  );
}

interface NewAccount {
  email: string;
  /** Null means that the account cannot sign in with a password. */
  password: string | null;
  tier: TierName;
}

export async function createAccount(deps: OperatorDeps, wanted: NewAccount): Promise<AccountRow> {
  const email = normalizeEmail(wanted.email);
  // Reserved for the first start, even if an operator's command ran first.
  if (email === ownerEmail) throw emailTaken(email);
  if (wanted.password === "") throw invalid("password", "must not be empty");
  const passwordHash = wanted.password === null ? null : await hashPassword(wanted.password);
  const now = deps.now();
  return deps.db.transact(async (tx) => {
    const id = createId(now);
    const account = await tx.get(insertAccount, { id, email, passwordHash, tier: wanted.tier, now });
    if (account === null) throw emailTaken(email);
    await record(tx, now, deps.author, {
      action: "account.created",
      target: { kind: "account", id, label: email },
      accountId: id,
      after: account,
    });
    return account;
  });
}

function emailTaken(email: string): AppError {
  return new AppError("VALIDATION_ERROR", `An account with the email address ${email} already exists.`, {
    suggestion: "Use it, or choose another email address.",
    details: [{ path: "email", message: "is taken" }],
  });
}

/** The email of the account created by the first start; it cannot receive mail. */
export const ownerEmail = "owner@localhost";

const longest = 254;
const pattern = /^[^\s@\p{C}]+@[^\s@\p{C}.]+(?:\.[^\s@\p{C}.]+)*$/u;

/** Normalises an email, so that no account is created twice. */
export function normalizeEmail(text: string): string {
  const email = text.trim().normalize("NFC").toLowerCase();
  if (email.length > longest || !pattern.test(email)) {
    throw invalid("email", `must be an address such as name@example.com, not "${text}"`);
  }
  return email;
}

const loginLinkMs = 24 * 60 * 60 * 1000;

/** Only a hash is stored. The token works once, within a day. */
export async function createLoginToken(tx: Queryable, now: number, accountId: string): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  await tx.run(insertLoginLink, {
    tokenHash: hash("sha256", token),
    accountId,
    expiresAt: now + loginLinkMs,
  });
  return token;
}

function loginLinkOf(config: { publicUrl: string }, token: string): string {
  return `${config.publicUrl}/dashboard/claim#${token}`;
}

/** A sign-in link for someone who lost access; for the installation's owner by default. */
export async function createLoginLink(
  deps: OperatorDeps & Pick<Deps, "config">,
  emailText: string | undefined,
): Promise<{ id: string; email: string; isEmailVerified: boolean; link: string; expiresAt: number }> {
  const email = emailText === undefined ? null : normalizeEmail(emailText);
  const now = deps.now();
  return deps.db.transact(async (tx) => {
    const account =
      email === null ? await tx.get(findInstallationOwner, {}) : await tx.get(findAccountByEmail, { email });
    if (account === null) throw email === null ? neverStarted() : unknownAccount(email);
    const token = await createLoginToken(tx, now, account.id);
    await record(tx, now, deps.author, {
      action: "login-link.created",
      target: { kind: "account", id: account.id, label: account.email },
      accountId: account.id,
    });
    return {
      id: account.id,
      email: account.email,
      isEmailVerified: account.email_verified === 1,
      link: loginLinkOf(deps.config, token),
      expiresAt: now + loginLinkMs,
    };
  });
}

function neverStarted(): AppError {
  return new AppError("NOT_FOUND", "This installation has no owner yet.", {
    suggestion: "Start the service once: it creates the owner and prints a link.",
  });
}
