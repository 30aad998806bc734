import { isIPv4 } from "node:net";
import { isLocalhostName } from "./outbound-url.ts";

const mappedPrefix = "::ffff:";

/** 127.0.0.0/8 and ::1. Looked at for every connection and Host, so no list is searched for it. */
export function isLoopbackAddress(address: string): boolean {
  if (address === "::1") return true;
  const ipv4 = address.startsWith(mappedPrefix) ? address.slice(mappedPrefix.length) : address;
  return ipv4.startsWith("127.") && isIPv4(ipv4);
}

/** A host name as it stands in a URL or a Host header, without its port. Browsers call these names safe too. */
export function isLoopbackHost(host: string): boolean {
  return isLocalhostName(host) || isLoopbackAddress(host.replace(/^\[(.*)\]$/, "$1"));
}
