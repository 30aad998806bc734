import { readFile } from "node:fs/promises";

/** Of a line: how much is queued for sending, unless nothing is, and the socket's inode. */
const queued = /^ *\d+: \S+ \S+ [\dA-F]{2} (?!0{8})([\dA-F]{8}):[\dA-F]{8} \S+ \S+ +\d+ +\d+ +(\d+) /gm;

/**
 * What the kernel took from this machine's processes and the other side has not acknowledged, by the inode of the
 * socket. Only Linux tells; elsewhere nothing is known.
 */
export async function readUnackedBytes(): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    const lines = await readFile(table, "latin1").catch(() => "");
    for (const [, bytes = "", inode] of lines.matchAll(queued))
      found.set(Number(inode), Number.parseInt(bytes, 16));
  }
  return found;
}
