import type { ByteStretch } from "./zip-family.ts";

/** The container of Microsoft's former formats: its directory names the streams of Word, Excel and so on. */
export function isCompound(head: Buffer): boolean {
  return head.toString("latin1", 0, 8) === "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" && head.length >= 512;
}

const directoryBytes = 4096;

export function findCompoundDirectory(head: Buffer, sizeBytes: number): ByteStretch | null {
  const sectorBytes = head.readUInt16LE(30) === 12 ? 4096 : 512;
  const start = (head.readUInt32LE(48) + 1) * sectorBytes;
  return start >= sizeBytes ? null : { start, length: Math.min(directoryBytes, sizeBytes - start) };
}

const families: [stream: string, type: string][] = [
  ["WordDocument", "application/msword"],
  ["Workbook", "application/vnd.ms-excel"],
  ["Book", "application/vnd.ms-excel"],
  ["PowerPoint Document", "application/vnd.ms-powerpoint"],
  ["VisioDocument", "application/vnd.visio"],
  ["__properties_version1.0", "application/vnd.ms-outlook"],
];

/** Names of streams have 64 bytes at the start of entries of 128. */
export function findCompoundFamily(directory: Buffer | null): string {
  const names = new Set<string>();
  for (let at = 0; directory !== null && at + 128 <= directory.length; at += 128) {
    const nameBytes = Math.min(64, directory.readUInt16LE(at + 64));
    names.add(directory.toString("utf16le", at, at + Math.max(0, nameBytes - 2)));
  }
  return families.find(([stream]) => names.has(stream))?.[1] ?? "application/x-cfb";
}
