import { formatMany } from "../format.ts";

/** What happens to uploaded files that are deleted, expire or are not claimed. */
export function endOfFiles(trashDays: number): string {
  return trashDays === 0 ? "are deleted permanently" : `go to the trash for ${formatMany(trashDays, "day")}`;
}

/** The same of one file. */
export function endOfFile(trashDays: number): string {
  return trashDays === 0 ? "is deleted permanently" : `goes to the trash for ${formatMany(trashDays, "day")}`;
}
