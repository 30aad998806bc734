import { isIP } from "node:net";
import type { CidrList } from "./cidr-list.ts";
import type { OutboundGuard } from "./outbound-guard.ts";
import { hostOf, isLocalhostName } from "./outbound-url.ts";
import { resolveName } from "./resolve-name.ts";

const plainRefused = "must start with https://; plain http is for addresses that the operator allowed";

/**
 * Null where a customer's storage may be at this address; otherwise why not. It is as with webhooks, but for plain
 * http, which is taken where every address behind the name is one that the operator has named.
 */
export async function judgeStorageEndpoint(
  guard: OutboundGuard,
  allowed: CidrList,
  endpoint: string,
): Promise<string | null> {
  const url = new URL(endpoint);
  const isPlain = url.protocol === "http:";
  const check = await guard.checkUrl(isPlain ? endpoint.replace(/^http:/i, "https:") : endpoint);
  if (!check.ok) return check.reason;
  if (!isPlain) return null;
  const addresses = await findAddresses(hostOf(url));
  const isNamed = addresses.length > 0 && addresses.every((address) => allowed.contains(address));
  return isNamed ? null : plainRefused;
}

async function findAddresses(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  if (isLocalhostName(host)) return ["127.0.0.1"];
  const found = await resolveName(host).catch(() => []);
  return found.map(({ address }) => address);
}
