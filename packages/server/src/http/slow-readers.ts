import { fstatSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";

export interface SlowReaderOptions {
  leastBytesPerSec: number;
  windowMs: number;
  onCut: () => void;
}

/** Node has no public name for this. Its own socket timeouts look here too before they fire. */
interface Handle {
  fd: number;
  bytesWritten: number;
  /** What the kernel has not taken yet. */
  writeQueueSize: number;
}

/** Since when a reader has kept us waiting, and where it stood then. */
interface Stall {
  sinceMs: number;
  takenBytes: number;
  /** Null until the kernel was asked. */
  acked: { bytes: number; atMs: number } | null;
}

const looksPerWindow = 15;

/**
 * Disconnects clients that do not read what they asked for. Whatever the response is, its bytes pile up behind the
 * socket, so all connections are looked at now and then and no request pays for it. A response that fits into the
 * kernel's buffers is not seen here; it costs us nothing but the connection, which the keep-alive timeout ends.
 */
export function createSlowReaderWatch({ leastBytesPerSec, windowMs, onCut }: SlowReaderOptions) {
  const leastBytes = (leastBytesPerSec * windowMs) / 1000;
  const open = new Set<Socket>();
  const stalls = new Map<Socket, Stall>();
  let isLooking = false;

  /** Once early, to have something to compare with, and once when the window is over. */
  function isLookDue({ sinceMs, acked }: Stall, nowMs: number): boolean {
    if (acked === null) return nowMs - sinceMs >= windowMs / 4;
    return nowMs - sinceMs >= windowMs && nowMs - acked.atMs >= windowMs / 2;
  }

  /** Those about which the kernel has to be asked. */
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
   * The kernel asks for more only after a third of its buffer, which may be megabytes, has drained: for minutes, if the
   * reader is slow. Whether the other side still takes bytes shows in what it acknowledges.
   */
  function judge(socket: Socket, stall: Stall, unacked: Map<number, number>, nowMs: number): void {
    const handle = handleOf(socket);
    if (handle === null) return;
    const takenBytes = takenOf(handle);
    const acked = { bytes: takenBytes - (unacked.get(fstatSync(handle.fd).ino) ?? 0), atMs: nowMs };
    if (stall.acked === null) stall.acked = acked;
    // Half, because the first look came later than the stall began, and acknowledgements come in steps.
    else if (acked.bytes - stall.acked.bytes >= leastBytes / 2)
      stalls.set(socket, { sinceMs: nowMs, takenBytes, acked });
    else {
      onCut();
      // A reset frees the kernel's buffers too; they would outlive a closed connection.
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
    /** Of a connection as the kernel knows it, not of what is encrypted on it. */
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

/** Of a line: how much is queued for sending, unless nothing is, and the socket's inode. */
const queued = /^ *\d+: \S+ \S+ [\dA-F]{2} (?!0{8})([\dA-F]{8}):[\dA-F]{8} \S+ \S+ +\d+ +\d+ +(\d+) /gm;

/**
 * What the kernel took from this machine's processes and the other side has not acknowledged, by the inode of the
 * socket. Only Linux tells; elsewhere nothing is known.
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
