import type { ItemStatus, ListStatus, UploadItem, UploadList } from "./types.ts";

const underWay: ItemStatus[] = ["queued", "preparing", "uploading", "completing", "waiting"];
const lost: ItemStatus[] = ["failed", "rejected", "cancelled"];

export function isUnderWay({ status }: UploadItem): boolean {
  return underWay.includes(status);
}

export function listStatus(items: readonly UploadItem[]): ListStatus {
  const has = (...wanted: ItemStatus[]) => items.some(({ status }) => wanted.includes(status));
  if (has(...underWay)) return "uploading";
  if (has("paused")) return "paused";
  if (has("staged")) return "staged";
  if (has("failed", "rejected")) return "failed";
  return has("done") ? "done" : "idle";
}

type Totals = Pick<
  UploadList,
  "status" | "sentBytes" | "totalBytes" | "progress" | "bytesPerSec" | "secondsLeft" | "waitSeconds"
>;

export function summarize(items: readonly UploadItem[]): Totals {
  let sentBytes = 0;
  let totalBytes = 0;
  let bytesPerSec = 0;
  let waitSeconds = 0;
  for (const item of items) {
    if (lost.includes(item.status)) continue;
    sentBytes += item.sentBytes;
    totalBytes += item.totalBytes;
    bytesPerSec += item.bytesPerSec;
    waitSeconds = Math.max(waitSeconds, item.waitSeconds ?? 0);
  }
  return {
    status: listStatus(items),
    sentBytes,
    totalBytes,
    progress: totalBytes === 0 ? 0 : sentBytes / totalBytes,
    bytesPerSec,
    secondsLeft: bytesPerSec === 0 ? null : Math.ceil((totalBytes - sentBytes) / bytesPerSec),
    waitSeconds: waitSeconds === 0 || items.some(isMoving) ? null : waitSeconds,
  };
}

const isMoving = ({ status }: UploadItem) => status === "uploading" || status === "completing";
