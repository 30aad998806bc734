import type { Socket } from "node:net";
import { TRANSFER_IDLE_SEC, TRANSFER_MIN_BYTES_PER_SEC } from "@upstow/contract";
import type { FastifyBaseLogger } from "fastify";
import { addressGroup, type CidrList } from "../kernel/net/cidr-list.ts";
import { isLoopbackAddress } from "../kernel/net/listen-address.ts";
import type { TransferMetrics } from "./metrics.ts";
import { createSlowReaderWatch } from "./slow-readers.ts";

export interface ConnectionsOptions {
  limit: ConnectionLimit;
  trustedProxies: CidrList;
  metrics: TransferMetrics;
  log: FastifyBaseLogger;
  idleTransferMs: number | undefined;
}

export interface Connections {
  /** Whether a new connection may stay open. */
  admit(socket: Socket): boolean;
  close(): void;
}

const logEveryMs = 60_000;

/** Limits how many connections anonymous clients can hold open. */
export function createConnections(options: ConnectionsOptions): Connections {
  const { limit, trustedProxies, metrics, log } = options;
  const readers = createSlowReaderWatch({
    leastBytesPerSec: TRANSFER_MIN_BYTES_PER_SEC,
    windowMs: options.idleTransferMs ?? TRANSFER_IDLE_SEC * 1000,
    onCut: metrics.countCutReader,
  });
  let loggedAt = Number.NEGATIVE_INFINITY;
  const isWithinLimit = createConnectionLimit(limit, trustedProxies, (address) => {
    metrics.countRefusedConnection();
    if (performance.now() - loggedAt < logEveryMs) return;
    loggedAt = performance.now();
    log.warn(
      { address, limit: limit.perAddress },
      "refused connections from an address that has too many open; UPSTOW_CONNECTIONS_PER_ADDRESS sets the limit",
    );
  });
  return {
    admit(socket) {
      if (!isWithinLimit(socket)) return false;
      readers.watch(socket);
      metrics.countBytes(socket);
      return true;
    },
    close: readers.close,
  };
}

export interface ConnectionLimit {
  /** Zero means no limit. */
  perAddress: number;
  /** Loopback is a developer, or a proxy that represents everyone. */
  countsLoopback: boolean;
}

/** Admits a limited number of open connections per address. Trusted proxies represent many clients, so they are exempt. */
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
    const address = addressGroup(peer);
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
