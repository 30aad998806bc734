import type { LookupAddress, LookupOptions } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { callbackify } from "node:util";
import type { CidrList } from "./cidr-list.ts";
import { hostOf, isLocalhostName, isPlainHttp, parseOutboundUrl, type UrlCheck } from "./outbound-url.ts";
import { type ResolveName, resolveName } from "./resolve-name.ts";

/**
 * Keeps requests to user-supplied URLs away from the machine and network we run in.
 *
 * A caller needs both halves for every request: `checkUrl` or `isRefusedLiteral` just before it, because Node never
 * calls `lookup` for an address literal, and `lookup` as the connection's resolver, because a name may resolve to
 * something else a moment after it was checked (DNS rebinding). Redirects must not be followed.
 *
 * Over https, public addresses and the operator's list are allowed; over plain http only the list.
 */
export interface OutboundGuard {
  /**
   * An https name that does not resolve, or not in time, passes: `lookup` checks it again when it is called. A plain
   * http name must resolve to allowed addresses.
   */
  checkUrl(raw: string): Promise<UrlCheck>;
  /** For `lookup` of https connections and agents; fails with `AddressRefused`. */
  lookup: LookupFunction;
  /** The same for plain http. */
  plainLookup: LookupFunction;
  /** The one of the two that fits a URL. */
  lookupFor(url: URL): LookupFunction;
  /** Checks a host that is an address, and leaves names to the lookup. */
  isRefusedLiteral(url: URL): boolean;
}

/** Names the rejected host, but never the address it resolved to. */
export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
  readonly code = "EADDRREFUSED";
}

const CHECK_TIMEOUT_MS = 3_000;

const LOOPBACK: LookupAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

export function createOutboundGuard({
  allow,
  resolve = resolveName,
  usualPortOnly = false,
}: {
  allow: CidrList;
  resolve?: ResolveName;
  /** Whether other ports than https's own are only for addresses on the list, like plain http. */
  usualPortOnly?: boolean;
}): OutboundGuard {
  const isAllowed: IsAllowed = (address) => isPublicAddress(address) || allow.contains(address);
  const isListed: IsAllowed = (address) => allow.contains(address);
  const isStrict = (url: URL) => isPlainHttp(url) || (usualPortOnly && url.port !== "");
  const judgeOf = (url: URL) => (isStrict(url) ? isListed : isAllowed);

  async function findAddresses(hostname: string, isFit: IsAllowed): Promise<LookupAddress[]> {
    const family = isIP(hostname);
    if (family !== 0) return [{ address: hostname, family }];
    if (!isLocalhostName(hostname)) return resolve(hostname);
    // RFC 6761: these names are loopback, whatever DNS says. Either address may be allowed without the other.
    const allowed = LOOPBACK.filter(({ address }) => isFit(address));
    return allowed.length > 0 ? allowed : LOOPBACK;
  }

  // One bad address rejects the host, because the other side controls which address a connection tries.
  async function getVettedAddresses(hostname: string, isFit: IsAllowed): Promise<LookupAddress[]> {
    const addresses = await findAddresses(hostname, isFit);
    if (addresses.every(({ address }) => isFit(address))) return addresses;
    throw new AddressRefused(refusalOf(hostname));
  }

  async function checkUrl(raw: string): Promise<UrlCheck> {
    const parsed = parseOutboundUrl(raw, { plainHttp: true });
    if (!parsed.ok) return parsed;
    const vetting = getVettedAddresses(hostOf(parsed.url), judgeOf(parsed.url));
    const addresses = await settledOrLate(vetting, CHECK_TIMEOUT_MS).catch((error: unknown) =>
      error instanceof AddressRefused ? error : null,
    );
    if (isStrict(parsed.url)) {
      if (Array.isArray(addresses) && addresses.length > 0) return parsed;
      return isPlainHttp(parsed.url) ? plainRefused : portRefused;
    }
    return addresses instanceof AddressRefused ? { ok: false, reason: addresses.message } : parsed;
  }

  function isRefusedLiteral(url: URL): boolean {
    const host = hostOf(url);
    return isIP(host) !== 0 && !judgeOf(url)(host);
  }

  function createLookup(isFit: IsAllowed): LookupFunction {
    return (hostname, options, callback) => {
      callbackify(getVettedAddresses)(hostname, isFit, (error, addresses) => {
        if (error) return callback(error, []);
        const usable = addresses.filter(({ family }) => isWantedFamily(family, options.family));
        const [first] = usable;
        if (!first) return callback(notFound(hostname), []);
        if (options.all) return callback(null, usable);
        callback(null, first.address, first.family);
      });
    };
  }

  const [lookup, plainLookup] = [createLookup(isAllowed), createLookup(isListed)];
  const lookupFor = (url: URL) => (isStrict(url) ? plainLookup : lookup);
  return { checkUrl, lookup, plainLookup, lookupFor, isRefusedLiteral };
}

type IsAllowed = (address: string) => boolean;

const plainRefused: UrlCheck = {
  ok: false,
  reason: "The URL must start with https://. Plain http is only for addresses that the operator has allowed.",
};

const portRefused: UrlCheck = {
  ok: false,
  reason: "The URL must use port 443. Other ports are only for addresses that the operator has allowed.",
};

function refusalOf(hostname: string): string {
  if (isIP(hostname) !== 0) return `The address ${hostname} is not public.`;
  if (isLocalhostName(hostname)) return `The host ${hostname} is this machine; use a public host.`;
  return `The host ${hostname} resolves to an address that is not public.`;
}

/** Null if it takes longer. */
async function settledOrLate<T>(work: Promise<T>, timeoutMs: number): Promise<T | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(late.resolve, timeoutMs, null);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function isWantedFamily(family: number, wanted: LookupOptions["family"]): boolean {
  if (wanted === undefined || wanted === 0) return true;
  return wanted === family || wanted === `IPv${family}`;
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: "ENOTFOUND", hostname });
}

const IPV4_NOT_PUBLIC: readonly (readonly [network: string, prefix: number])[] = [
  ["0.0.0.0", 8], // "this network"; 0.0.0.0 reaches the host itself
  ["10.0.0.0", 8], // private
  ["100.64.0.0", 10], // carrier-grade NAT; also some clouds' metadata service
  ["127.0.0.0", 8], // loopback
  ["168.63.129.16", 32], // Azure's host agent, inside a public range
  ["169.254.0.0", 16], // link-local; most clouds' metadata service
  ["172.16.0.0", 12], // private
  ["192.0.0.0", 24], // IETF protocol assignments
  ["192.0.2.0", 24], // documentation
  ["192.88.99.0", 24], // 6to4 relay anycast
  ["192.168.0.0", 16], // private
  ["198.18.0.0", 15], // benchmarking
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4], // reserved, and broadcast
];

/**
 * IPv6 forms that a kernel or a gateway turns into the IPv4 address in their last 32 bits: mapped, compatible
 * and NAT64. The local-use NAT64 prefix 64:ff9b:1::/48 is not here, so it is refused whole: where its IPv4
 * address sits depends on the network.
 */
const IPV4_CARRIERS = ["::ffff:", "::", "64:ff9b::"] as const;

const IPV6_NOT_PUBLIC: readonly (readonly [network: string, prefix: number])[] = [
  ["2001::", 23], // IETF protocol assignments, Teredo (2001::/32) among them
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4, which carries an IPv4 address
  ["3fff::", 20], // documentation
];

const denied = new BlockList();
const ipv6Candidates = new BlockList();

ipv6Candidates.addSubnet("2000::", 3, "ipv6");
for (const carrier of IPV4_CARRIERS) ipv6Candidates.addSubnet(`${carrier}0.0.0.0`, 96, "ipv6");
for (const [network, prefix] of IPV6_NOT_PUBLIC) denied.addSubnet(network, prefix, "ipv6");
for (const [network, prefix] of IPV4_NOT_PUBLIC) {
  denied.addSubnet(network, prefix, "ipv4");
  for (const carrier of IPV4_CARRIERS) denied.addSubnet(`${carrier}${network}`, 96 + prefix, "ipv6");
}

/**
 * Whether an address leads to the public internet and nowhere else. Text that is not an address in standard
 * notation is not public, nor is an address with a zone id, which only means something on a local link.
 */
export function isPublicAddress(address: string): boolean {
  if (address.includes("%")) return false;
  const family = isIP(address);
  if (family === 4) return !denied.check(address, "ipv4");
  return family === 6 && ipv6Candidates.check(address, "ipv6") && !denied.check(address, "ipv6");
}
