import { fstatSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { TRANSFER_IDLE_SEC, TRANSFER_MIN_BYTES_PER_SEC } from "@upstow/contract";
import type { FastifyBaseLogger } from "fastify";
import { addressGroup, type CidrList } from "../kernel/net/cidr-list.ts";
import { isLoopbackAddress } from "../kernel/net/listen-address.ts";
import type { TransferMetrics } from "./metrics.ts";

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
      "rejected connections from an address that has too many open; UPSTOW_CONNECTIONS_PER_ADDRESS sets the limit",
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

interface SlowReaderOptions {
  leastBytesPerSec: number;
  windowMs: number;
  onCut: () => void;
}

/** Node has no public API for this. Its own socket timeouts check it too before they fire. */
interface Handle {
  fd: number;
  bytesWritten: number;
  /** Bytes the kernel has not accepted yet. */
  writeQueueSize: number;
}

/** Since when a reader has stalled, and its position then. */
interface Stall {
  sinceMs: number;
  takenBytes: number;
  /** Null until the kernel was queried. */
  acked: { bytes: number; atMs: number } | null;
}

const looksPerWindow = 15;

/**
 * Disconnects clients that do not read their responses. Unread bytes pile up in the socket, so all connections are
 * checked now and then, at no cost to requests. A response that fits into the kernel's buffers is not noticed here; it
 * costs only the connection, which the keep-alive timeout ends.
 */
export function createSlowReaderWatch({ leastBytesPerSec, windowMs, onCut }: SlowReaderOptions) {
  const leastBytes = (leastBytesPerSec * windowMs) / 1000;
  const open = new Set<Socket>();
  const stalls = new Map<Socket, Stall>();
  let isLooking = false;

  /** Once early, for comparison, and once at the end of the window. */
  function isLookDue({ sinceMs, acked }: Stall, nowMs: number): boolean {
    if (acked === null) return nowMs - sinceMs >= windowMs / 4;
    return nowMs - sinceMs >= windowMs && nowMs - acked.atMs >= windowMs / 2;
  }

  /** Connections for which the kernel has to be queried. */
  function listDoubtful(nowMs: number): [Socket, Stall][] {
    const doubtful: [Socket, Stall][] = [];
    for (const socket of open) {
      const handle = handleOf(socket);
      if (handle === null || handle.writeQueueSize === 0) {
        stalls.delete(socket);
        continue;
      }
      const stall = stalls.get(socket);
      const takenBytes = takenOf(handle);
      if (stall === undefined || takenBytes - stall.takenBytes >= leastBytes)
        stalls.set(socket, { sinceMs: nowMs, takenBytes, acked: null });
      else if (isLookDue(stall, nowMs)) doubtful.push([socket, stall]);
    }
    return doubtful;
  }

  /**
   * The kernel accepts more only after a third of its buffer, which may be megabytes, has drained; with a slow reader
   * that takes minutes. Acknowledgements show whether the peer is still reading.
   */
  function judge(socket: Socket, stall: Stall, unacked: Map<number, number>, nowMs: number): void {
    const handle = handleOf(socket);
    if (handle === null) return;
    const takenBytes = takenOf(handle);
    const acked = { bytes: takenBytes - (unacked.get(fstatSync(handle.fd).ino) ?? 0), atMs: nowMs };
    if (stall.acked === null) stall.acked = acked;
    // Half, because the first check came after the stall began, and acknowledgements come in steps.
    else if (acked.bytes - stall.acked.bytes >= leastBytes / 2)
      stalls.set(socket, { sinceMs: nowMs, takenBytes, acked });
    else {
      onCut();
      // A reset also frees the kernel's buffers, which would outlive a closed connection.
      socket.resetAndDestroy();
    }
  }

  async function look(): Promise<void> {
    if (isLooking) return;
    const nowMs = performance.now();
    const doubtful = listDoubtful(nowMs);
    if (doubtful.length === 0) return;
    isLooking = true;
    const unacked = await readUnackedBytes();
    isLooking = false;
    for (const [socket, stall] of doubtful) judge(socket, stall, unacked, nowMs);
  }

  const clock = setInterval(() => void look(), windowMs / looksPerWindow).unref();
  return {
    /** The kernel's socket, not the TLS layer on top of it. */
    watch(socket: Socket): void {
      open.add(socket);
      socket.once("close", () => {
        open.delete(socket);
        stalls.delete(socket);
      });
    },
    close: () => clearInterval(clock),
  };
}

function handleOf(socket: Socket): Handle | null {
  return (socket as Socket & { _handle?: Handle | null })._handle ?? null;
}

function takenOf({ bytesWritten, writeQueueSize }: Handle): number {
  return bytesWritten - writeQueueSize;
}

/** Matches a line's send queue, unless empty, and the socket's inode. */
const queued = /^ *\d+: \S+ \S+ [\dA-F]{2} (?!0{8})([\dA-F]{8}):[\dA-F]{8} \S+ \S+ +\d+ +\d+ +(\d+) /gm;

/**
 * Unacknowledged bytes of all processes on this machine, by the inode of the socket. Only available on Linux.
 */
async function readUnackedBytes(): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    const lines = await readFile(table, "latin1").catch(() => "");
    for (const [, bytes = "", inode] of lines.matchAll(queued))
      found.set(Number(inode), Number.parseInt(bytes, 16));
  }
  return found;
}
