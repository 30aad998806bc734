import { hash } from "node:crypto";
import type { Deps } from "../../deps.ts";
import { rateLimited } from "../../http/rate-limit.ts";
import { addressBucket } from "../../net/address-bucket.ts";

/** A minute. Guessing from many addresses at one account meets the second. */
const triesPerAddress = 10;
const triesPerAccount = 30;

/** Everything that lets somebody in, or tells whether a secret is right, counts here. */
export function throttleAddress(deps: Pick<Deps, "limiter">, address: string): Promise<void> {
  return spend(deps, `sign-in:${addressBucket(address)}`, triesPerAddress);
}

/** By the address as it was typed, so that accounts that do not exist are counted alike. */
export function throttleAccount(deps: Pick<Deps, "limiter">, email: string): Promise<void> {
  return spend(deps, `sign-in-account:${hash("sha256", email)}`, triesPerAccount);
}

export async function spend(deps: Pick<Deps, "limiter">, bucket: string, limit: number): Promise<void> {
  const hit = await deps.limiter.hit(bucket, limit);
  if (!hit.isAllowed) throw rateLimited(hit);
}
