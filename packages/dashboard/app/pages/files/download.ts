import { LINKS_MAX, type Link } from "@upstow/contract";
import { callApi } from "../../api.ts";

/** A quarter of an hour is enough to start each download. */
const linkSec = 900;

/** Saves files under their names, private ones too, by links that are made for it. */
export async function downloadFiles(api: string, keys: string[]): Promise<void> {
  for (let i = 0; i < keys.length; i += LINKS_MAX) {
    const body = { keys: keys.slice(i, i + LINKS_MAX), expiresIn: linkSec, download: true };
    const { links } = await callApi<{ links: Link[] }>("POST", `${api}/files/links`, body);
    for (const { url } of links) {
      const anchor = document.createElement("a");
      anchor.href = url;
      anchor.download = "";
      anchor.rel = "noopener noreferrer";
      anchor.click();
      // Browsers drop downloads that start at the same moment.
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}
