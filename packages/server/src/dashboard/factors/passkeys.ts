import { isIP } from "node:net";
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { PASSKEYS_MAX } from "@upstow/contract";
import { UniqueViolation } from "../../db/database.ts";
import type { PasskeyRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { AppError, invalid, notFound } from "../../kernel/errors.ts";
import { createId } from "../../kernel/ids.ts";
import { record } from "../../projects/audit/record.ts";
import { findLastingSession, holdAccount } from "../queries.ts";
import { createSession, type Entrant, type Session, signedOut, type Visitor } from "../sessions.ts";
import type { SignedIn } from "../sign-in.ts";
import { throttleAddress } from "../throttle.ts";
import { deletePasskey, findPasskey, insertPasskey, listPasskeys, usePasskey } from "./queries.ts";
import { openStep, takeStep } from "./steps.ts";

/** Loaded on first use, to keep startup fast. */
const loadWebAuthn = () => import("@simplewebauthn/server");

/** Asks the browser for a new passkey with user verification, because it replaces both factors. */
export async function startPasskey(deps: Deps, session: Session, origin: string) {
  const { generateRegistrationOptions } = await loadWebAuthn();
  const known = await deps.db.all(listPasskeys, { accountId: session.accountId });
  if (known.length >= PASSKEYS_MAX) throw tooManyPasskeys();
  const options = await generateRegistrationOptions({
    rpName: "Upstow",
    rpID: siteOf(origin),
    userName: session.email,
    userID: new TextEncoder().encode(session.accountId),
    attestationType: "none",
    excludeCredentials: known.map((passkey) => ({ id: passkey.credential_id })),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
  });
  const step = { kind: "new-passkey", accountId: session.accountId, challenge: options.challenge } as const;
  return { options, ticket: await deps.db.transact((tx) => openStep(tx, deps.now(), step)) };
}

export async function addPasskey(
  deps: Deps,
  session: Session,
  origin: string,
  given: { ticket: string; name: string; response: RegistrationResponseJSON },
): Promise<void> {
  const { verifyRegistrationResponse } = await loadWebAuthn();
  const now = deps.now();
  const step = await deps.db.transact((tx) => takeStep(tx, now, "new-passkey", given.ticket));
  if (step.accountId !== session.accountId) throw unknownPasskey();
  const { registrationInfo } = await verifyRegistrationResponse({
    response: given.response,
    expectedChallenge: step.challenge,
    expectedOrigin: origin,
    expectedRPID: siteOf(origin),
    requireUserVerification: true,
  }).catch(refuse);
  if (registrationInfo === undefined) throw unknownPasskey();
  const { credential } = registrationInfo;
  const row = {
    id: createId(now),
    account_id: session.accountId,
    credential_id: credential.id,
    public_key: Buffer.from(credential.publicKey).toString("base64url"),
    sign_count: credential.counter,
    name: given.name,
    created_at: now,
  };
  await keepPasskey(deps, session, row);
}

/** Fails if the session has ended meanwhile: that may have been to take the account back from a thief. */
export async function keepPasskey(
  { db, now, author }: Pick<Deps, "db" | "now" | "author">,
  session: Session,
  row: Omit<PasskeyRow, "last_used_at">,
): Promise<void> {
  const { id, accountId } = session;
  try {
    await db.transact(async (tx) => {
      await tx.run(holdAccount, { accountId });
      if ((await tx.get(findLastingSession, { id, now: now() })) === null) throw signedOut();
      if ((await tx.all(listPasskeys, { accountId })).length >= PASSKEYS_MAX) throw tooManyPasskeys();
      await tx.run(insertPasskey, row);
      await record(tx, now(), author, {
        action: "passkey.added",
        target: { kind: "passkey", id: row.id, label: row.name },
        accountId,
        after: row,
      });
    });
  } catch (error) {
    throw error instanceof UniqueViolation ? invalid("passkey", "is already registered") : error;
  }
}

export async function removePasskey(
  { db, now, author }: Pick<Deps, "db" | "now" | "author">,
  passkey: { id: string; accountId: string },
): Promise<void> {
  await db.transact(async (tx) => {
    const removed = await tx.get(deletePasskey, passkey);
    if (removed === null) throw notFound("Passkey");
    await record(tx, now(), author, {
      action: "passkey.removed",
      target: { kind: "passkey", id: removed.id, label: removed.name },
      accountId: passkey.accountId,
      before: removed,
    });
  });
}

/** The browser offers the passkeys it has for this site, so users need not identify themselves first. */
export async function startPasskeySignIn(deps: Deps, visitor: Visitor, origin: string) {
  await throttleAddress(deps, visitor.address, "passkey");
  const { generateAuthenticationOptions } = await loadWebAuthn();
  const options = await generateAuthenticationOptions({
    rpID: siteOf(origin),
    userVerification: "required",
  });
  const step = { kind: "passkey", accountId: null, challenge: options.challenge } as const;
  return { options, ticket: await deps.db.transact((tx) => openStep(tx, deps.now(), step)) };
}

export async function signInWithPasskey(
  deps: Deps,
  visitor: Entrant,
  origin: string,
  given: { ticket: string; response: AuthenticationResponseJSON },
): Promise<SignedIn> {
  const { verifyAuthenticationResponse } = await loadWebAuthn();
  const now = deps.now();
  const { challenge } = await deps.db.transact((tx) => takeStep(tx, now, "passkey", given.ticket));
  const passkey = await deps.db.get(findPasskey, { credentialId: given.response.id });
  if (passkey === null) throw unknownPasskey();
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: given.response,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: siteOf(origin),
    requireUserVerification: true,
    credential: {
      id: passkey.credential_id,
      publicKey: new Uint8Array(Buffer.from(passkey.public_key, "base64url")),
      counter: passkey.sign_count,
    },
  }).catch(refuse);
  if (!verified) throw unknownPasskey();
  return deps.db.transact(async (tx) => {
    // Otherwise a session could start while someone is ending all of them.
    await tx.run(holdAccount, { accountId: passkey.account_id });
    const signCount = authenticationInfo.newCounter;
    if ((await tx.run(usePasskey, { id: passkey.id, signCount, now })) === 0) throw unknownPasskey();
    return createSession(tx, now, passkey.account_id, visitor, "passkey");
  });
}

/** Passkeys are bound to a host name. The origin has already been checked to be ours. */
function siteOf(origin: string): string {
  const { hostname } = new URL(origin);
  if (isIP(hostname.replaceAll(/[[\]]/g, "")) !== 0) {
    throw invalid(
      "passkey",
      "needs the dashboard opened with a host name, such as localhost, not an IP address",
    );
  }
  return hostname;
}

/** The library throws for every invalid response; the reason would only help attackers. */
function refuse(error: unknown): never {
  throw unknownPasskey(error);
}

function tooManyPasskeys(): AppError {
  return invalid("passkeys", `can be ${PASSKEYS_MAX} at most`);
}

function unknownPasskey(cause?: unknown): AppError {
  return new AppError("UNAUTHORIZED", "This passkey was rejected.", {
    suggestion: "Try again, or use your password.",
    cause,
  });
}
