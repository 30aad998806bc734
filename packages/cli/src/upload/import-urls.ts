import type { FileObject, ImportOptions, Upstow } from "@upstow/sdk";
import { clean, formatBytes } from "../format.ts";
import { fewAtOnce } from "./few-at-once.ts";

export interface UrlJob {
  upstow: Upstow;
  urls: string[];
  options: ImportOptions;
  draw(text: string): void;
  onDone(url: string, file: FileObject): void;
  onFailed(url: string, error: unknown): void;
}

export const isUrl = (text: string) => /^https?:\/\//i.test(text);

/** The service fetches the files; one line per file shows how far it is. */
export async function importUrls({ upstow, urls, options, draw, onDone, onFailed }: UrlJob): Promise<void> {
  const lines = new Map<string, string>();
  const redraw = () => draw([...lines.values()].join("\n"));
  await fewAtOnce(urls, async (url) => {
    try {
      let name = url;
      const file = await upstow.importFromUrl(url, {
        ...options,
        onStart: (started) => {
          name = started.name;
        },
        onProgress({ receivedBytes, totalBytes }) {
          const total = totalBytes === null ? "" : ` of ${formatBytes(totalBytes)}`;
          lines.set(url, `${clean(name)}  ${formatBytes(receivedBytes)}${total}`);
          redraw();
        },
      });
      onDone(url, file);
    } catch (error) {
      onFailed(url, error);
    } finally {
      lines.delete(url);
      redraw();
    }
  });
}
