import { isIPv6 } from "node:net";

/**
 * What counts as one caller by address. One household or server has a whole IPv6 /64, so counting its single
 * addresses would give it as many limits as it likes.
 */
export function addressBucket(address: string): string {
  if (!isIPv6(address) || /\d\.\d/.test(address)) return address;
  const [head = "", tail] = (address.split("%", 1)[0] ?? "").split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const last = tail === "" ? [] : tail.split(":");
    while (groups.length + last.length < 8) groups.push("0");
    groups.push(...last);
  }
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
