"use client";

import { formatBytes } from "../core/format.ts";
import { useSurroundings } from "../core/provider.tsx";
import type { Upload } from "../core/use-upload.ts";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { FileRows } from "../parts/file-rows.tsx";
import { FleetingButton } from "../parts/fleeting-button.tsx";
import { UnfinishedRows } from "../parts/unfinished-rows.tsx";

export interface FileListProps {
  /** What `useUpload` returned. */
  upload: Upload;
  /** Shown while the list is empty. */
  emptyText?: string;
  classNames?: ClassNames<"root" | "head" | "list" | "item">;
}

/** All files in a list, with actions for all of them. */
export function FileList({ upload, emptyText = "Nothing here yet.", classNames }: FileListProps) {
  const { labels, locale } = useSurroundings();
  const { items } = upload;
  const has = (...wanted: string[]) => items.some(({ status }) => wanted.includes(status));
  const retryAll = () => {
    for (const { id, status } of items) if (status === "failed") upload.retry(id);
  };
  const bulk = [
    { text: labels.pauseAll, isShown: has("uploading", "queued"), act: () => upload.pause() },
    { text: labels.resumeAll, isShown: has("paused"), act: () => upload.resume() },
    { text: labels.retryFailed, isShown: has("failed"), act: retryAll },
    { text: labels.clear, isShown: has("done", "rejected", "cancelled"), act: () => upload.clear() },
  ];
  return (
    <section className={cx("us-ui us-file-list", classNames?.root)} aria-label={labels.files}>
      <div className={cx("us-file-list-head", classNames?.head)}>
        <span className="us-hint">
          {items.length} · {formatBytes(upload.totalBytes, locale)}
        </span>
        {bulk
          .filter(({ isShown }) => isShown)
          .map(({ text, act }) => (
            <FleetingButton key={text} className="us-link" onClick={act}>
              {text}
            </FleetingButton>
          ))}
      </div>
      {items.length + upload.unfinished.length === 0 && <p className="us-empty">{emptyText}</p>}
      <UnfinishedRows upload={upload} classNames={classNames} />
      <FileRows items={items} actions={upload.actions} classNames={classNames} />
    </section>
  );
}
