import type { LookupAddress, LookupOptions } from "node:dns";
import type { LookupFunction } from "node:net";
import { isIP } from "node:net";
import { callbackify } from "node:util";
import type { CidrList } from "./cidr-list.ts";
import type { UrlCheck } from "./outbound-url.ts";
import { hostOf, isLocalhostName, isPlainHttp, parseOutboundUrl } from "./outbound-url.ts";
import { isPublicAddress } from "./public-address.ts";
import { type ResolveName, resolveName } from "./resolve-name.ts";

/**
 * Keeps requests to URLs that users give us away from the machine and network we run in.
 *
 * A caller needs both halves for every request: `checkUrl` or `isRefusedLiteral` just before it, because Node never
 * calls `lookup` for an address literal, and `lookup` as the connection's resolver, because a name may resolve to
 * something else a moment after it was checked (DNS rebinding). Redirects must not be followed.
 *
 * Over https, public addresses and the operator's list are allowed; over plain http only the list.
 */
export interface OutboundGuard {
  /**
   * An https name that does not resolve, or not in time, passes: `lookup` judges it again when it is called. A plain
   * http name must be seen to resolve to allowed addresses.
   */
  checkUrl(raw: string): Promise<UrlCheck>;
  /** For `lookup` of https connections and agents; fails with `AddressRefused`. */
  lookup: LookupFunction;
  /** The same for plain http. */
  plainLookup: LookupFunction;
  /** Judges a host that is an address, and leaves names to the lookup. */
  isRefusedLiteral(url: URL): boolean;
}

/** Says which host was refused and never to which address it resolved. */
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
}: {
  allow: CidrList;
  resolve?: ResolveName;
}): OutboundGuard {
  const isAllowed: IsAllowed = (address) => isPublicAddress(address) || allow.contains(address);
  const isListed: IsAllowed = (address) => allow.contains(address);
  const judgeOf = (url: URL) => (isPlainHttp(url) ? isListed : isAllowed);

  async function findAddresses(hostname: string, isFit: IsAllowed): Promise<LookupAddress[]> {
    const family = isIP(hostname);
    if (family !== 0) return [{ address: hostname, family }];
    if (!isLocalhostName(hostname)) return resolve(hostname);
    // RFC 6761: these names are loopback, whatever DNS says. Either address may be allowed without the other.
    const allowed = LOOPBACK.filter(({ address }) => isFit(address));
    return allowed.length > 0 ? allowed : LOOPBACK;
  }

  // One bad address refuses the host: which of them a connection would try is for the other side to steer.
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
    if (isPlainHttp(parsed.url))
      return Array.isArray(addresses) && addresses.length > 0 ? parsed : plainRefused;
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

  return { checkUrl, lookup: createLookup(isAllowed), plainLookup: createLookup(isListed), isRefusedLiteral };
}

type IsAllowed = (address: string) => boolean;

const plainRefused: UrlCheck = {
  ok: false,
  reason: "The URL must start with https://. Plain http is only for addresses that the operator has allowed.",
};

function refusalOf(hostname: string): string {
  if (isIP(hostname) !== 0) return `The address ${hostname} is not public.`;
  if (isLocalhostName(hostname)) return `The host ${hostname} is this machine itself; give a public host.`;
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
