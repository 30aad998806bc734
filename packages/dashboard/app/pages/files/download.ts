import { ARCHIVE_BYTES_MAX, ARCHIVE_FILES_MAX, ARCHIVE_FOUND_MAX, type Link } from "@upstow/contract";
import { callApi } from "../../api.ts";
import { formatBytes, formatCount } from "../../format.ts";
import { type Matching, toBody } from "./use-file-deletion.ts";

/** A quarter of an hour is enough to start the download. */
const linkSec = 900;

/** Saves a file under its name, a private one too, by a link that is made for it. */
export async function downloadFile(api: string, key: string): Promise<void> {
  const body = { keys: [key], expiresIn: linkSec, download: true };
  const { links } = await callApi<{ links: Link[] }>("POST", `${api}/files/links`, body);
  for (const { url } of links) save(url);
}

interface Archived {
  id: string;
  key: string;
  size: number;
}

/**
 * Saves several files as a ZIP, or as more than one where a single one would be too large. A viewer, who may create no
 * link, gets one file as a ZIP too.
 */
export async function downloadFiles(api: string, files: Archived[], mayLink: boolean): Promise<void> {
  const [first] = files;
  if (first !== undefined && files.length === 1 && mayLink) return downloadFile(api, first.key);
  for (const [i, part] of splitUp(files).entries()) {
    // Browsers drop downloads that start at the same moment.
    if (i > 0) await new Promise((resolve) => setTimeout(resolve, 250));
    save(`/dashboard/api${api}/files/archive?ids=${part.map((file) => file.id).join(",")}`);
  }
}

/** Saves all that a search found as one ZIP. */
export function downloadMatching(api: string, matching: Matching): void {
  if (matching.count > ARCHIVE_FOUND_MAX || matching.bytes > ARCHIVE_BYTES_MAX) {
    throw new Error(
      `An archive can contain at most ${formatCount(ARCHIVE_FOUND_MAX)} files and ${formatBytes(ARCHIVE_BYTES_MAX)}. Narrow the search.`,
    );
  }
  save(`/dashboard/api${api}/search/archive?${new URLSearchParams(toBody(matching))}`);
}

function splitUp(files: Archived[]): Archived[][] {
  const parts: Archived[][] = [];
  let part: Archived[] = [];
  let bytes = 0;
  for (const file of files) {
    if (file.size > ARCHIVE_BYTES_MAX) {
      throw new Error(
        `A file is over the ${formatBytes(ARCHIVE_BYTES_MAX)} limit of an archive. Download it separately.`,
      );
    }
    bytes += file.size;
    if (part.length === 0 || part.length === ARCHIVE_FILES_MAX || bytes > ARCHIVE_BYTES_MAX) {
      part = [];
      bytes = file.size;
      parts.push(part);
    }
    part.push(file);
  }
  return parts;
}

function save(url: string): void {
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = "";
  anchor.rel = "noopener noreferrer";
  anchor.click();
}
