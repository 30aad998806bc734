import { ADDRESS_LIMITS } from "@upstow/contract";
import { addressGroup } from "../../src/kernel/net/cidr-list.ts";
import type { TestApp } from "./start-app.ts";

/** Counts refused callers from an address until `left` more get through, without sending thousands of requests. */
export async function spendAddress(app: TestApp, address: string, left: number): Promise<void> {
  const name = `address:${addressGroup(address)}`;
  const limit = ADDRESS_LIMITS.unauthenticated;
  await Promise.all(Array.from({ length: limit - left }, () => app.app.deps.limiter.hit(name, limit)));
}
