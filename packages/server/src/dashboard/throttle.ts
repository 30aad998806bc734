import { hash } from "node:crypto";
import type { Deps } from "../deps.ts";
import { addressGroup, addressNetwork } from "../kernel/net/cidr-list.ts";
import { rateLimited } from "../kernel/rate-limiter.ts";

// All per minute.
const triesPerAddress = 10;
const triesPerNetwork = 60;
const triesPerAccountAndNetwork = 10;
/** From everywhere together. It takes ten networks to use it up, and shuts out nobody who is known. */
const triesPerAccount = 100;
const triesPerDevice = 10;
const confirmationsPerSession = 10;

type LimiterDeps = Pick<Deps, "limiter">;

/** What is counted apart, so that wrong passwords of a neighbour keep nobody from using something else. */
type Way = "sign-in" | "code" | "link" | "passkey";

/** Everything that lets somebody in, or tells whether a secret is right, counts here. */
export async function throttleAddress(
  deps: LimiterDeps,
  address: string,
  way: Way = "sign-in",
): Promise<void> {
  const bucket = addressGroup(address);
  await spend(deps, `${way}:${bucket}`, triesPerAddress);
  // Of an IPv4 network the neighbours are strangers to each other.
  if (bucket !== address) await spend(deps, `${way}-network:${addressNetwork(address)}`, triesPerNetwork);
}

/**
 * A stranger who guesses uses up what their own network may try, not what the account's owner may. A device that has
 * signed in to the account before is counted by itself. By the email as it was typed, so that accounts that don't exist
 * are counted alike.
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

/** Only who is signed in gets here, so nobody else can use it up. */
export function throttleConfirmation(deps: LimiterDeps, sessionId: string): Promise<void> {
  return spend(deps, `confirm:${sessionId}`, confirmationsPerSession);
}

export async function spend(deps: LimiterDeps, bucket: string, limit: number): Promise<void> {
  const hit = await deps.limiter.hit(bucket, limit);
  if (!hit.isAllowed) throw rateLimited(hit);
}
