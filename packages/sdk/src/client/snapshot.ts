import type { Entry } from "./entry.ts";
import type { UploaderSnapshot, UploadState } from "./types.ts";

/** Returns the same object while nothing has changed, so that lists re-render only what did. */
export function describe(entry: Entry): UploadState {
  const { state, status, error } = entry;
  // Most files of a long queue are waiting or finished, yet are visited whenever one makes progress.
  const isAtRest = ["queued", "done", "failed", "cancelled"].includes(status);
  if (isAtRest && state?.status === status && state.error === error) return state;
  const next = toState(entry);
  const keys = Object.keys(next) as (keyof UploadState)[];
  if (entry.state === null || keys.some((key) => entry.state?.[key] !== next[key])) entry.state = next;
  return entry.state;
}

export function takeSnapshot(entries: Entry[], isOnline: boolean): UploaderSnapshot {
  const uploads = entries.map(describe);
  let [sentBytes, totalBytes, bytesPerSec] = [0, 0, 0];
  for (const state of uploads) {
    if (state.status === "failed" || state.status === "cancelled") continue;
    sentBytes += state.sentBytes;
    totalBytes += state.totalBytes;
    bytesPerSec += state.bytesPerSec;
  }
  return { uploads, isOnline, ...measure(sentBytes, totalBytes, bytesPerSec) };
}

function toState(entry: Entry): UploadState {
  const { id, route, file, error, uploaded, session, meter, waitsUntilMs } = entry;
  const status = waitsUntilMs === null ? entry.status : "waiting";
  const sentBytes = status === "done" ? file.size : (session?.sentBytes() ?? 0);
  const bytesPerSec = status === "uploading" ? meter.bytesPerSec() : 0;
  return {
    id,
    route,
    file,
    status,
    ...measure(sentBytes, file.size, bytesPerSec),
    waitSeconds: waitsUntilMs === null ? null : Math.max(1, Math.ceil((waitsUntilMs - Date.now()) / 1000)),
    isResumed: session?.isResumed ?? false,
    error,
    uploaded,
  };
}

function measure(sentBytes: number, totalBytes: number, bytesPerSec: number) {
  return {
    sentBytes,
    totalBytes,
    progress: totalBytes === 0 ? 0 : sentBytes / totalBytes,
    bytesPerSec,
    secondsLeft: bytesPerSec === 0 ? null : Math.ceil((totalBytes - sentBytes) / bytesPerSec),
  };
}
