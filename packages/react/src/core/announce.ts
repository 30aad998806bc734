import { formatSeconds } from "./format.ts";
import type { Labels } from "./labels.ts";
import type { UploadItem } from "./types.ts";

/** What a screen reader should announce about a change; null if nothing. */
export function announce(
  labels: Labels,
  items: UploadItem[],
  changed: UploadItem[],
  isAllDone: boolean,
  locale: string | undefined,
): string | null {
  if (isAllDone && items.length > 1) return labels.allDone(items.length);
  const failed = changed.find(({ status }) => status === "failed" || status === "rejected");
  if (failed !== undefined) return labels.failed(failed.file.name, failed.error?.message ?? "");
  const held = changed.filter(({ status }) => status === "waiting");
  // Announced once for all waiting files, and not on every second of the countdown.
  if (held[0] !== undefined && held.length === items.filter(({ status }) => status === "waiting").length)
    return labels.heldBack(formatSeconds(held[0].waitSeconds ?? 0, locale));
  const last = changed.at(-1);
  if (last === undefined) return null;
  const { name } = last.file;
  if (last.status === "done") return labels.uploaded(name);
  if (last.status === "paused" || last.status === "cancelled")
    return `${name}: ${labels.status[last.status]}`;
  const added = changed.filter(({ status }) => status === "queued" || status === "staged").length;
  return added === 0 ? null : labels.added(added);
}
