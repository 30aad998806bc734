import type { Fetch } from "../http/call.ts";
import { differs, sha256Hex } from "../transfer/checksum.ts";

const pieceBytes = 4 * 1024 * 1024;

/**
 * Reads the stored bytes back and compares them with the file, piece by piece. For storage whose checksums a browser
 * cannot compute. False if they could not be read or compared; throws on a difference.
 */
export async function readBack(fetch: Fetch, url: string, file: File, signal: AbortSignal): Promise<boolean> {
  if (crypto.subtle === undefined) return false;
  for (let start = 0; start < file.size; start += pieceBytes) {
    const piece = file.slice(start, start + pieceBytes);
    const stored = await readRange(fetch, url, start, start + piece.size - 1, signal);
    if (stored === null) return false;
    if ((await sha256Hex(stored)) !== (await sha256Hex(piece))) throw differs();
  }
  return true;
}

async function readRange(fetch: Fetch, url: string, first: number, last: number, signal: AbortSignal) {
  try {
    const headers = { range: `bytes=${first}-${last}` };
    const response = await fetch(url, { headers, signal, cache: "no-store" });
    return response.status === 206 ? new Uint8Array(await response.arrayBuffer()) : null;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}
