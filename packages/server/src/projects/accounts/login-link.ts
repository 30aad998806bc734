import { hash, randomBytes } from "node:crypto";
import type { Queryable } from "../../db/database.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../kernel/errors.ts";
import { normalizeEmail, unknownAccount } from "./accounts.ts";
import { findAccountByEmail, findInstallationOwner, insertLoginLink } from "./queries.ts";

const loginLinkMs = 24 * 60 * 60 * 1000;

/** What is kept is a hash: only whoever holds the token gets in, once, within a day. */
export async function createLoginToken(tx: Queryable, now: number, accountId: string): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  await tx.run(insertLoginLink, {
    tokenHash: hash("sha256", token),
    accountId,
    expiresAt: now + loginLinkMs,
  });
  return token;
}

export function loginLinkOf(config: { publicUrl: string }, token: string): string {
  return `${config.publicUrl}/dashboard/claim#${token}`;
}

/** A way in for somebody who lost theirs; for the installation's owner where nobody is named. */
export async function createLoginLink(
  deps: Pick<Deps, "config" | "db" | "now">,
  emailText: string | undefined,
): Promise<{ id: string; email: string; isEmailVerified: boolean; link: string; expiresAt: number }> {
  const email = emailText === undefined ? null : normalizeEmail(emailText);
  const now = deps.now();
  return deps.db.transact(async (tx) => {
    const account =
      email === null ? await tx.get(findInstallationOwner, {}) : await tx.get(findAccountByEmail, { email });
    if (account === null) throw email === null ? neverStarted() : unknownAccount(email);
    const token = await createLoginToken(tx, now, account.id);
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
    suggestion: "Start the service once: it makes the owner and shows a link.",
  });
}
