import { formatBytes, formatMany } from "../../format.ts";

export interface DeletedProject {
  id: string;
  name: string;
  slug: string;
  deletedAt: string;
  files: number;
  /** Than `files`: very many are not counted to the end. */
  hasMoreFiles: boolean;
  storedBytes: number;
}

export interface Purge {
  deletedFiles: number;
  reclaimedBytes: number;
}

export function formatLeft({ files, hasMoreFiles, storedBytes }: DeletedProject): string {
  if (files === 0) return "only events left";
  return `${hasMoreFiles ? "more than " : ""}${formatFiles(files, storedBytes)}`;
}

export function formatPurge({ deletedFiles, reclaimedBytes }: Purge): string {
  return deletedFiles === 0 ? "its events" : formatFiles(deletedFiles, reclaimedBytes);
}

function formatFiles(files: number, bytes: number): string {
  return `${formatMany(files, "file")}, ${formatBytes(bytes)}`;
}
