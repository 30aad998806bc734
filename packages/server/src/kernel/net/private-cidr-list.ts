import { BlockList } from "node:net";
import { type CidrList, parseCidrList, parseCidrs } from "./cidr-list.ts";

/** Networks that no stranger on the internet calls from. */
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

/** As `parseCidrList`, but throws for a range that lies outside of private networks, if only in part. */
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
