import type { Socket } from "node:net";
import { TRANSFER_IDLE_SEC, TRANSFER_MIN_BYTES_PER_SEC } from "@upstow/contract";
import type { FastifyBaseLogger } from "fastify";
import type { CidrList } from "../kernel/net/cidr-list.ts";
import { type ConnectionLimit, createConnectionLimit } from "./connection-limit.ts";
import { createSlowReaderWatch } from "./slow-readers.ts";
import type { TransferMetrics } from "./transfer-metrics.ts";

export interface ConnectionsOptions {
  limit: ConnectionLimit;
  trustedProxies: CidrList;
  metrics: TransferMetrics;
  log: FastifyBaseLogger;
  idleTransferMs: number | undefined;
}

export interface Connections {
  /** Whether a connection that was just opened may stay. */
  admit(socket: Socket): boolean;
  close(): void;
}

const logEveryMs = 60_000;

/** Bounds what anonymous clients can hold open. */
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
      return true;
    },
    close: readers.close,
  };
}
