import type { Socket } from "node:net";
import { addressBucket } from "../kernel/net/address-bucket.ts";
import type { CidrList } from "../kernel/net/cidr-list.ts";
import { isLoopbackAddress } from "../kernel/net/loopback.ts";

export interface ConnectionLimit {
  /** Zero: no limit. */
  perAddress: number;
  /** On loopback there is a developer, or a proxy that stands for everyone. */
  countsLoopback: boolean;
}

/** Admits a limited number of open connections per address. Trusted proxies stand for many clients, so they are exempt. */
export function createConnectionLimit(
  { perAddress, countsLoopback }: ConnectionLimit,
  trustedProxies: CidrList,
  onRefused: (address: string) => void,
): (socket: Socket) => boolean {
  const open = new Map<string, number>();

  function leave(address: string): void {
    const others = (open.get(address) ?? 0) - 1;
    if (others > 0) open.set(address, others);
    else open.delete(address);
  }

  return (socket) => {
    const peer = socket.remoteAddress;
    if (perAddress === 0 || peer === undefined) return true;
    if ((!countsLoopback && isLoopbackAddress(peer)) || trustedProxies.contains(peer)) return true;
    const address = addressBucket(peer);
    const count = open.get(address) ?? 0;
    if (count >= perAddress) {
      onRefused(address);
      return false;
    }
    open.set(address, count + 1);
    socket.once("close", () => leave(address));
    return true;
  };
}
