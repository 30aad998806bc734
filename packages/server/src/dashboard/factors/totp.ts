import { hash } from "node:crypto";
import type { AuditAction } from "@upstow/contract";
import type { TOTP } from "otpauth";
import type { TotpRow } from "../../db/account-schema.ts";
import type { Queryable } from "../../db/database.ts";
import type { Deps } from "../../deps.ts";
import { AppError, invalid } from "../../kernel/errors.ts";
import { randomText } from "../../kernel/ids.ts";
import { type Change, record } from "../../projects/audit/record.ts";
import {
  confirmTotp,
  countTry,
  deleteRecoveryCodes,
  deleteTotp,
  findTotp,
  forgetFailures,
  insertRecoveryCode,
  listTotps,
  resealTotp,
  startTotp,
  takeRecoveryCode,
  useStep,
} from "./queries.ts";
import { stepEnded } from "./steps.ts";

type CodeDeps = Pick<Deps, "db" | "keyring" | "now">;
type ChangeDeps = CodeDeps & Pick<Deps, "author">;

export const totpPurpose = "one-time codes";
const secretBytes = 20;
const freeTries = 5;
const firstPauseMs = 30_000;
const longestPauseMs = 60 * 60 * 1000;

/** The setup data for an authenticator app; not active until a first code is entered. */
export async function startCodes(
  deps: CodeDeps,
  account: { accountId: string; email: string },
): Promise<{ secret: string; uri: string }> {
  const { Secret } = await import("otpauth");
  const secret = new Secret({ size: secretBytes }).base32;
  const sealed = deps.keyring.encrypt(secret, totpPurpose);
  const [started] = await deps.db.change(startTotp, { accountId: account.accountId, sealed });
  if (started === undefined) throw alreadyOn();
  return { secret, uri: (await openSecret(secret, account.email)).toString() };
}

/** From here on, a password alone is not enough to sign in. */
export async function confirmCodes(deps: ChangeDeps, accountId: string, code: string): Promise<string[]> {
  const row = await deps.db.get(findTotp, { accountId });
  if (row === null) throw invalid("code", "cannot be checked yet: scan the QR code first");
  if (row.confirmed_at !== null) throw alreadyOn();
  const step = await findTimeStep(deps, row.secret_sealed, withoutSpaces(code));
  if (step === null)
    throw invalid("code", "is wrong; if the next one is wrong too, check your phone's clock");
  return deps.db.transact(async (tx) => {
    const confirmed = await tx.get(confirmTotp, { accountId, sealed: row.secret_sealed, now: deps.now() });
    if (confirmed === null) throw stepEnded();
    await tx.run(useStep, { accountId, step });
    await record(tx, deps.now(), deps.author, ofAccount("codes.enabled", accountId));
    return createRecoveryCodes(tx, accountId);
  });
}

export async function turnOffCodes(deps: ChangeDeps, accountId: string): Promise<void> {
  await deps.db.transact(async (tx) => {
    await endCodes(tx, accountId);
    await record(tx, deps.now(), deps.author, ofAccount("codes.disabled", accountId));
  });
}

/** New ones, which end the earlier ones. */
export async function replaceRecoveryCodes(deps: ChangeDeps, accountId: string): Promise<string[]> {
  return deps.db.transact(async (tx) => {
    const totp = await tx.get(findTotp, { accountId });
    if (totp === null || totp.confirmed_at === null) throw invalid("codes", "are not turned on");
    await record(tx, deps.now(), deps.author, ofAccount("recovery-codes.created", accountId));
    return createRecoveryCodes(tx, accountId);
  });
}

const ofAccount = (action: AuditAction, accountId: string): Change => ({
  action,
  target: { kind: "account", id: accountId },
  accountId,
});

export async function endCodes(tx: Queryable, accountId: string): Promise<void> {
  await tx.run(deleteRecoveryCodes, { accountId });
  await tx.run(deleteTotp, { accountId });
}

/** A code from the app, or a recovery code. Each is accepted once, and wrong ones delay the next. */
export async function checkCode(deps: CodeDeps, accountId: string, given: string): Promise<boolean> {
  const sealed = await takeTry(deps, accountId);
  const code = withoutSpaces(given).toLowerCase();
  if (!/^\d{6}$/.test(code)) {
    return deps.db.transact(async (tx) => {
      const isRight = await useRecoveryCode(tx, accountId, code);
      if (isRight) await tx.run(forgetFailures, { accountId });
      return isRight;
    });
  }
  const step = await findTimeStep(deps, sealed, code);
  return step !== null && (await deps.db.run(useStep, { accountId, step })) > 0;
}

/** Six digits are easy to guess, so after a few consecutive wrong codes each further one doubles the wait. */
async function takeTry(deps: CodeDeps, accountId: string): Promise<string> {
  const now = deps.now();
  return deps.db.transact(async (tx) => {
    const row = await tx.get(findTotp, { accountId });
    // Turned off between the password and the code.
    if (row === null || row.confirmed_at === null) throw stepEnded();
    if (row.next_try_at > now) throw tooManyCodes(row.next_try_at - now);
    const failures = row.failures + 1;
    const nextTryAt = now + pauseAfter(failures);
    const counted = await tx.run(countTry, { accountId, seen: row.failures, failures, nextTryAt });
    if (counted === 0) throw tooManyCodes(1000);
    return row.secret_sealed;
  });
}

export function pauseAfter(failures: number): number {
  return failures < freeTries ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - freeTries));
}

/** The code's time step: the current one or a neighbour, to tolerate clock drift. */
async function findTimeStep(deps: CodeDeps, sealed: string, code: string): Promise<number | null> {
  const totp = await openSecret(deps.keyring.decrypt(sealed, totpPurpose), "");
  const timestamp = deps.now();
  const delta = totp.validate({ token: code, timestamp, window: 1 });
  return delta === null ? null : totp.counter({ timestamp }) + delta;
}

/** Loaded on first use, to keep startup fast. */
async function openSecret(secret: string, label: string): Promise<TOTP> {
  const { Secret, TOTP: Totp } = await import("otpauth");
  return new Totp({ issuer: "Upstow", label, secret: Secret.fromBase32(secret) });
}

function withoutSpaces(code: string): string {
  return code.replaceAll(/[\s-]/g, "");
}

function alreadyOn(): AppError {
  return new AppError("VALIDATION_ERROR", "One-time codes are already on.", {
    suggestion: "Turn them off first to use another app.",
  });
}

function tooManyCodes(waitMs: number): AppError {
  const waitSec = Math.ceil(waitMs / 1000);
  return new AppError("RATE_LIMITED", `Too many wrong codes. Retry after ${waitSec} seconds.`, {
    headers: { "retry-after": String(waitSec) },
  });
}

const howMany = 10;
/** 80 random bits, so a plain hash is enough to store them. */
const codeLength = 16;

/** Replaces all earlier ones. They are shown only once. */
async function createRecoveryCodes(tx: Queryable, accountId: string): Promise<string[]> {
  await tx.run(deleteRecoveryCodes, { accountId });
  const codes = Array.from({ length: howMany }, () => randomText(codeLength));
  for (const code of codes) await tx.run(insertRecoveryCode, { accountId, codeHash: hash("sha256", code) });
  return codes.map((code) => code.replaceAll(/(.{4})(?=.)/g, "$1-"));
}

/** True if the code was unused; it is used up now. */
async function useRecoveryCode(tx: Queryable, accountId: string, code: string): Promise<boolean> {
  return (await tx.run(takeRecoveryCode, { accountId, codeHash: hash("sha256", code) })) > 0;
}

const batchSize = 100;

export async function resealTotps({ db, keyring }: Pick<Deps, "db" | "keyring">): Promise<void> {
  let rows: TotpRow[];
  let after = "";
  do {
    rows = await db.all(listTotps, { after, take: batchSize });
    for (const { account_id: accountId, secret_sealed: sealed } of rows) {
      const resealed = keyring.reseal(sealed, totpPurpose);
      if (resealed !== null) await db.run(resealTotp, { accountId, sealed, resealed });
    }
    after = rows.at(-1)?.account_id ?? "";
  } while (rows.length === batchSize);
}
