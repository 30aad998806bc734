import { isIPv6 } from "node:net";

/**
 * What counts as one caller by address. One household or server has a whole IPv6 /64, so counting its single
 * addresses would give it as many limits as it likes.
 */
export function addressBucket(address: string): string {
  return isIPv6Address(address) ? prefixOf(address, 4) : address;
}

/** What one customer of a network provider may have all of: an IPv6 /48, or neighbours in an IPv4 /24. */
export function addressNetwork(address: string): string {
  if (isIPv6Address(address)) return prefixOf(address, 3);
  const [, network = address] = /(\d+\.\d+\.\d+)\.\d+$/.exec(address) ?? [];
  return `${network}.0/24`;
}

/** Not one that carries an IPv4 address. */
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
