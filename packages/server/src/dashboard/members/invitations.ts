import { hash, randomBytes } from "node:crypto";
import { OPEN_INVITATIONS_MAX } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { createId } from "../../kernel/ids.ts";
import { normalizeEmail } from "../../projects/accounts/accounts.ts";
import { findAccountByEmail, insertInvitedAccount } from "../../projects/accounts/queries.ts";
import { record } from "../../projects/audit/record.ts";
import { writeLog } from "../../projects/logs/queries.ts";
import type { Role } from "../access.ts";
import { checkNewPassword, type PasswordWork } from "../password-work.ts";
import { holdAccount } from "../queries.ts";
import { authorOf, createSession, type Entrant, type Session, type Visitor } from "../sessions.ts";
import { type SignedIn, signIn, wrongCredentials } from "../sign-in.ts";
import { spend, throttleAddress, throttlePassword } from "../throttle.ts";
import {
  countOpenInvitations,
  deleteEndedInvitations,
  deleteInvitation,
  deleteInvitationsTo,
  findInvitation,
  findProjectOwner,
  holdProject,
  insertInvitation,
  putMember,
  takeInvitation,
} from "./queries.ts";

const invitationMs = 7 * 24 * 60 * 60 * 1000;
const invitationsPerMinute = 10;

/**
 * Creates an invite link. The response is the same whether or not the email has an account, and a second link for the
 * same email replaces the first.
 */
export async function invite(
  deps: Deps,
  session: Session,
  wanted: { projectId: string; email: string; role: Role },
): Promise<{ link: string; expiresAt: number }> {
  await spend(deps, `invite:${session.accountId}`, invitationsPerMinute);
  const { projectId, role } = wanted;
  const email = normalizeEmail(wanted.email);
  const token = randomBytes(32).toString("base64url");
  const now = deps.now();
  const expiresAt = now + invitationMs;
  await deps.db.transact(async (tx) => {
    await tx.run(holdAccount, { accountId: session.accountId });
    if ((await tx.run(holdProject, { projectId })) === 0) throw notFound("Project");
    await tx.run(deleteEndedInvitations, { now });
    await tx.run(deleteInvitationsTo, { projectId, email });
    const open = await tx.get(countOpenInvitations, { projectId, accountId: session.accountId, now });
    if ((open?.project ?? 0) >= OPEN_INVITATIONS_MAX.project)
      throw tooManyInvitations("This project", OPEN_INVITATIONS_MAX.project);
    if ((open?.account ?? 0) >= OPEN_INVITATIONS_MAX.account)
      throw tooManyInvitations("Your account", OPEN_INVITATIONS_MAX.account);
    const id = createId(now);
    await tx.run(insertInvitation, {
      id,
      token_hash: hash("sha256", token),
      project_id: projectId,
      email,
      role,
      invited_by: session.accountId,
      created_at: now,
      expires_at: expiresAt,
    });
    await writeLog(tx, now, {
      projectId,
      environment: "live",
      type: "member.invited",
      message: `${email} was invited as ${role}.`,
    });
    await record(tx, now, deps.author, {
      action: "invitation.created",
      target: { kind: "invitation", id, label: email },
      projectId,
      after: { email, role },
    });
  });
  return { link: `${deps.config.publicUrl}/dashboard/join#${token}`, expiresAt };
}

/** An invitation's details for its holder, without revealing whether the email has an account. */
export async function lookAtInvitation(deps: Deps, token: string, visitor: Visitor) {
  await throttleAddress(deps, visitor.address, "link");
  const found = await deps.db.get(findInvitation, { tokenHash: hash("sha256", token), now: deps.now() });
  if (found === null) throw usedInvitation();
  return found;
}

/**
 * One form for both cases: if the email has an account, its password is required; otherwise the account is created with
 * it. Without creating one, nobody learns which case it was. Joining is the next step in both.
 */
export async function signUp(
  deps: Deps,
  passwords: PasswordWork,
  given: { token: string; password: string },
  visitor: Entrant,
): Promise<SignedIn> {
  const { email } = await lookAtInvitation(deps, given.token, visitor);
  checkNewPassword(given.password);
  const known = await deps.db.get(findAccountByEmail, { email });
  if (known !== null) return signIn(deps, passwords, { email, password: given.password }, visitor);
  // As for a sign-in, so that the two are indistinguishable.
  await throttlePassword(deps, { address: visitor.address, device: null }, email);
  const passwordHash = await passwords.hash(given.password);
  const now = deps.now();
  return deps.db.transact(async (tx) => {
    const account = await tx.get(insertInvitedAccount, { id: createId(now), email, passwordHash, now });
    if (account === null) throw wrongCredentials();
    await record(tx, now, authorOf({ accountId: account.id, email }, visitor), {
      action: "account.created",
      target: { kind: "account", id: account.id, label: email },
      accountId: account.id,
      after: { email, tier: "free" },
    });
    return createSession(tx, now, account.id, visitor, "invitation");
  });
}

export async function withdrawInvitation(
  { db, now, author }: Pick<Deps, "db" | "now" | "author">,
  invitation: { id: string; projectId: string },
): Promise<void> {
  await db.transact(async (tx) => {
    const withdrawn = await tx.get(deleteInvitation, invitation);
    if (withdrawn === null) throw notFound("Invitation");
    await record(tx, now(), author, {
      action: "invitation.withdrawn",
      target: { kind: "invitation", id: invitation.id, label: withdrawn.email },
      projectId: invitation.projectId,
      before: withdrawn,
    });
  });
}

/** A signed-in user accepts an invitation to their email. */
export async function accept(deps: Deps, session: Session, token: string): Promise<string> {
  const now = deps.now();
  return deps.db.transact(async (tx) => {
    const invitation = await tx.get(takeInvitation, { tokenHash: hash("sha256", token), now });
    if (invitation === null) throw usedInvitation();
    if (invitation.email !== session.email) throw meantForAnother();
    const { projectId, role } = invitation;
    const owner = await tx.get(findProjectOwner, { projectId });
    if (owner === null) throw usedInvitation();
    if (owner.accountId === session.accountId) return projectId;
    await tx.run(putMember, { projectId, accountId: session.accountId, role, now });
    await writeLog(tx, now, {
      projectId,
      environment: "live",
      type: "member.joined",
      message: `${session.email} joined as ${role}.`,
    });
    await record(tx, now, deps.author, {
      action: "member.joined",
      target: { kind: "member", id: session.accountId, label: session.email },
      projectId,
      after: { role },
    });
    return projectId;
  });
}

function tooManyInvitations(who: string, most: number): AppError {
  return new AppError("TIER_LIMIT_EXCEEDED", `${who} has ${most} open invitations, which is the maximum.`, {
    suggestion: "Withdraw some, or wait until they are accepted or expire.",
  });
}

function usedInvitation(): AppError {
  return new AppError("FORBIDDEN", "This invitation was already used, was withdrawn or has expired.", {
    suggestion: "Ask for a new one.",
  });
}

function meantForAnother(): AppError {
  return new AppError("FORBIDDEN", "This invitation is for another email address.", {
    suggestion: "Sign out, then open the link again.",
  });
}
