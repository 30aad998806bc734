import { createUploader, type Uploader, type UploaderSnapshot } from "@upstow/sdk/client";
import { useEffect, useSyncExternalStore } from "react";
import { createConsoleBackend } from "./console-backend.ts";

const uploaders = new Map<string, Uploader>();

/** One per project and environment. It continues while the user visits other pages. */
export function getUploader(api: string): Uploader {
  let uploader = uploaders.get(api);
  if (uploader === undefined) {
    uploader = createUploader({
      endpoint: `/dashboard/api${api}/upload`,
      fetch: createConsoleBackend(api),
      keepOnFailure: true,
      verify: true,
    });
    uploaders.set(api, uploader);
  }
  return uploader;
}

const moving = ["queued", "preparing", "uploading", "completing"];

export function useUploads(api: string): UploaderSnapshot {
  const { subscribe, getSnapshot } = getUploader(api);
  const snapshot = useSyncExternalStore(subscribe, getSnapshot);
  const isMoving = snapshot.uploads.some(({ status }) => moving.includes(status));
  useEffect(() => {
    if (!isMoving) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isMoving]);
  return snapshot;
}
