import { parseCidrList } from "./cidr-list.ts";
import { isLocalhostName } from "./outbound-url.ts";

const loopback = parseCidrList("127.0.0.0/8, ::1");

export function isLoopbackAddress(address: string): boolean {
  return loopback.contains(address);
}

/** A host name as it stands in a URL or a Host header, without its port. Browsers call these names safe too. */
export function isLoopbackHost(host: string): boolean {
  return isLocalhostName(host) || isLoopbackAddress(host.replace(/^\[(.*)\]$/, "$1"));
}
