import { describeStatus, formatBytes, formatSeconds } from "../core/format.ts";
import { useSurroundings } from "../core/provider.tsx";
import type { UploadItem } from "../core/types.ts";

/** A file's state in words: size, status, speed, time left, or error. */
export function FileMeta({ item, className = "us-meta" }: { item: UploadItem; className?: string }) {
  const { labels, locale } = useSurroundings();
  const { status, error, totalBytes, bytesPerSec, secondsLeft } = item;
  if (error !== null && status !== "cancelled")
    return <span className={`${className} us-error`}>{error.message}</span>;
  const said = describeStatus(item, labels, locale);
  // A phone has no room for both, and the size is less important.
  if (status === "waiting") return <span className={className}>{said}</span>;
  const parts = [formatBytes(totalBytes, locale), said];
  if (status === "uploading" && bytesPerSec > 0) {
    parts.push(`${formatBytes(bytesPerSec, locale)}/s`);
    if (secondsLeft !== null) parts.push(`${formatSeconds(secondsLeft, locale)} ${labels.left}`);
  }
  return <span className={className}>{parts.join(" · ")}</span>;
}
