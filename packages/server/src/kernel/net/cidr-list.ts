import { BlockList, isIP, isIPv6 } from "node:net";

/** A set of addresses listed by the operator: trusted proxies, or exceptions to the outbound guard. */
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

/**
 * The network that counts as one caller. A household or server has a whole IPv6 /64, so counting single addresses would
 * give it unlimited limits.
 */
export function addressGroup(address: string): string {
  return isIPv6Address(address) ? prefixOf(address, 4) : address;
}

/** The network that one customer of a provider may own: an IPv6 /48, or neighbours in an IPv4 /24. */
export function addressNetwork(address: string): string {
  if (isIPv6Address(address)) return prefixOf(address, 3);
  const [, network = address] = /(\d+\.\d+\.\d+)\.\d+$/.exec(address) ?? [];
  return `${network}.0/24`;
}

/** Not one that embeds an IPv4 address. */
function isIPv6Address(address: string): boolean {
  return isIPv6(address) && !/\d\.\d/.test(address);
}

function prefixOf(address: string, groupCount: number): string {
  const [head = "", tail] = (address.split("%", 1)[0] ?? "").split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const last = tail === "" ? [] : tail.split(":");
    while (groups.length + last.length < 8) groups.push("0");
    groups.push(...last);
  }
  const first = groups.slice(0, groupCount).map((group) => Number.parseInt(group, 16).toString(16));
  return `${first.join(":")}::/${groupCount * 16}`;
}

/** Networks that can't be reached from the internet. */
const privateNetworks: readonly (readonly [network: string, prefix: number, family: "ipv4" | "ipv6"])[] = [
  ["10.0.0.0", 8, "ipv4"],
  ["100.64.0.0", 10, "ipv4"], // carrier-grade NAT; also overlay networks and some clouds' clusters
  ["127.0.0.0", 8, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  ["::1", 128, "ipv6"],
  ["fc00::", 7, "ipv6"],
  ["fe80::", 10, "ipv6"],
];

const everyPrivate = parseCidrList(
  privateNetworks.map(([network, prefix]) => `${network}/${prefix}`).join(","),
);

/** Whether it is an address on this machine or in a private network. */
export const isPrivateAddress = everyPrivate.contains;

/** Like `parseCidrList`, but throws for a range that is not entirely private. */
export function parsePrivateCidrList(text: string): CidrList {
  for (const { entry, address, prefix, family, isMapped } of parseCidrs(text)) {
    // A mapped address has its IPv4 one in the last 32 bits.
    const length = isMapped ? prefix - 96 : prefix;
    const isPrivate = privateNetworks.some(([network, shortest, ofFamily]) => {
      const list = new BlockList();
      list.addSubnet(network, shortest, ofFamily);
      const isSameFamily = (ofFamily === "ipv4") === (family === 4 || isMapped);
      return isSameFamily && length >= shortest && list.check(address, family === 4 ? "ipv4" : "ipv6");
    });
    if (!isPrivate) throw new Error(`must list private networks only, such as 172.16.0.0/12, not "${entry}"`);
  }
  return parseCidrList(text);
}
