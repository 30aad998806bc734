import { BlockList, isIP } from "node:net";

/** A set of addresses that the operator named: trusted proxies, or exemptions from the outbound guard. */
export interface CidrList {
  /** False for text that is not an address. A zone id (`fe80::1%eth0`) is ignored. */
  contains(address: string): boolean;
}

const ipv4Mapped = new BlockList();
ipv4Mapped.addSubnet("::ffff:0:0", 96, "ipv6");

const PREFIX = /^(?:0|[1-9][0-9]{0,2})$/;

/**
 * Parses `10.0.0.0/8, 192.0.2.7, fd00::/8`. Throws an Error that names the entry it does not understand.
 *
 * The families are kept apart because a BlockList reads an IPv4 address as `::ffff:a.b.c.d` too, so that
 * `::/0` or `::/64` alone would silently hold all of IPv4. A mapped address or entry counts as IPv4 here.
 */
export function parseCidrList(text: string): CidrList {
  const ipv4 = new BlockList();
  const ipv6 = new BlockList();
  for (const { address, prefix, family, isMapped } of parseCidrs(text)) {
    (family === 4 || isMapped ? ipv4 : ipv6).addSubnet(address, prefix, family === 4 ? "ipv4" : "ipv6");
  }
  return {
    contains(address) {
      const family = isIP(address);
      if (family === 0) return false;
      if (family === 4) return ipv4.check(address, "ipv4");
      return (ipv4Mapped.check(address, "ipv6") ? ipv4 : ipv6).check(address, "ipv6");
    },
  };
}

export function parseCidrs(text: string) {
  const entries = text.split(",").map((entry) => entry.trim());
  return entries.filter((entry) => entry !== "").map(parseEntry);
}

function parseEntry(entry: string) {
  const [address = "", prefixText, ...rest] = entry.split("/");
  const family = isIP(address);
  if (family === 0 || address.includes("%") || rest.length > 0) {
    throw new Error(`"${entry}" is not an IP address or a range such as 10.0.0.0/8 or fd00::/8`);
  }
  const isMapped = family === 6 && ipv4Mapped.check(address, "ipv6");
  const longest = family === 4 ? 32 : 128;
  // A shorter prefix on a mapped address would no longer be a range of IPv4 addresses.
  const shortest = isMapped ? 96 : 0;
  const prefix = prefixText === undefined ? longest : PREFIX.test(prefixText) ? Number(prefixText) : -1;
  if (prefix < shortest || prefix > longest) {
    throw new Error(`"${entry}" needs a prefix length from ${shortest} to ${longest} after the slash`);
  }
  return { entry, address, prefix, family, isMapped };
}
