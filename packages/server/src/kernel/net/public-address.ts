import { BlockList, isIP } from "node:net";

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
