import { ARCHIVE_BYTES_MAX, ARCHIVE_FILES_MAX, type Link } from "@upstow/contract";
import { callApi } from "../../api.ts";
import { formatBytes } from "../../format.ts";

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

/** Saves several files as a ZIP, or as more than one where a single one would be too large. */
export async function downloadFiles(api: string, files: Archived[]): Promise<void> {
  const [first] = files;
  if (first !== undefined && files.length === 1) return downloadFile(api, first.key);
  for (const part of splitUp(files)) {
    save(`/dashboard/api${api}/files/archive?ids=${part.map((file) => file.id).join(",")}`);
    // Browsers drop downloads that start at the same moment.
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

function splitUp(files: Archived[]): Archived[][] {
  const parts: Archived[][] = [];
  let part: Archived[] = [];
  let bytes = 0;
  for (const file of files) {
    if (file.size > ARCHIVE_BYTES_MAX) {
      throw new Error(
        `A file is larger than the ${formatBytes(ARCHIVE_BYTES_MAX)} of an archive. Download it by itself.`,
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
