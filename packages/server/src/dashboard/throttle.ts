import { hash } from "node:crypto";
import type { Deps } from "../deps.ts";
import { addressGroup, addressNetwork } from "../kernel/net/cidr-list.ts";
import { rateLimited } from "../kernel/rate-limiter.ts";

// All limits are per minute.
const triesPerAddress = 10;
const triesPerNetwork = 60;
const triesPerAccountAndNetwork = 10;
/** From all networks together. It takes ten networks to exhaust, and does not apply to known devices. */
const triesPerAccount = 100;
const triesPerDevice = 10;
const confirmationsPerSession = 10;

type LimiterDeps = Pick<Deps, "limiter">;

/** Counted separately, so that a neighbour's wrong passwords do not block other actions. */
type Way = "sign-in" | "code" | "link" | "passkey";

/** Everything that signs someone in, or reveals whether a secret is right, counts here. */
export async function throttleAddress(
  deps: LimiterDeps,
  address: string,
  way: Way = "sign-in",
): Promise<void> {
  const bucket = addressGroup(address);
  await spend(deps, `${way}:${bucket}`, triesPerAddress);
  // Neighbours in an IPv4 network are unrelated to each other.
  if (bucket !== address) await spend(deps, `${way}-network:${addressNetwork(address)}`, triesPerNetwork);
}

/**
 * Guessing uses up the attempts of the guesser's network, not the account owner's. A device that has signed in to
 * the account before is counted separately. Counted by the email as typed, so that accounts that don't exist are
 * treated the same.
 */
export async function throttlePassword(
  deps: LimiterDeps,
  caller: { address: string; device: string | null },
  email: string,
): Promise<void> {
  if (caller.device !== null) {
    await spend(deps, `sign-in-device:${caller.device}`, triesPerDevice);
    return;
  }
  await throttleAddress(deps, caller.address);
  const account = `sign-in-account:${hash("sha256", email)}`;
  await spend(deps, `${account}:${addressNetwork(caller.address)}`, triesPerAccountAndNetwork);
  await spend(deps, account, triesPerAccount);
}

/** Only signed-in users get here, so no one else can use it up. */
export function throttleConfirmation(deps: LimiterDeps, sessionId: string): Promise<void> {
  return spend(deps, `confirm:${sessionId}`, confirmationsPerSession);
}

export async function spend(deps: LimiterDeps, bucket: string, limit: number): Promise<void> {
  const hit = await deps.limiter.hit(bucket, limit);
  if (!hit.isAllowed) throw rateLimited(hit);
}
