import { sha256Hex } from "../transfer/checksum.ts";

const sampleBytes = 64 * 1024;

/** Recognises a file after a reload by its name, size and time, and by its first and last bytes. */
export async function fingerprintOf(file: File, endpoint: string, route: string): Promise<string> {
  const { name, size, type, lastModified } = file;
  const edges = new Blob([file.slice(0, sampleBytes), file.slice(Math.max(0, size - sampleBytes))]);
  // Pages not served over HTTPS have no access to digests.
  const sample = crypto.subtle === undefined ? "" : await sha256Hex(edges);
  return JSON.stringify([`${endpoint} ${route}`, name, size, type, lastModified, sample]);
}

export function isOfEndpoint(fingerprint: string, endpoint: string): boolean {
  return fingerprint.startsWith(JSON.stringify([`${endpoint} `]).slice(0, -2));
}
