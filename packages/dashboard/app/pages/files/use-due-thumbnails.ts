import { useEffect, useEffectEvent } from "react";
import { callApi } from "../../api.ts";
import type { Pages } from "../../load.ts";
import type { FoundFile } from "./found-file.ts";

const lookEveryMs = 2_000;

/** Updates images whose thumbnails are due. They are among the newest, so the first page has them. */
export function useDueThumbnails(path: string, { items, setItems }: Pages<FoundFile>): void {
  const isDue = items.some((file) => file.isThumbnailDue);
  const look = useEffectEvent(async (signal: AbortSignal) => {
    const { files } = await callApi<{ files: FoundFile[] }>("GET", path, undefined, { signal });
    const newest = new Map(files.map((file) => [file.id, file]));
    setItems((before) =>
      before.map((file) =>
        file.isThumbnailDue ? (newest.get(file.id) ?? { ...file, isThumbnailDue: false }) : file,
      ),
    );
  });
  useEffect(() => {
    if (!isDue) return;
    const stop = new AbortController();
    // After a failure it looks again.
    const looking = setInterval(() => look(stop.signal).catch(() => {}), lookEveryMs);
    return () => {
      clearInterval(looking);
      stop.abort();
    };
  }, [isDue]);
}
