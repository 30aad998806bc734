"use client";

import { type KeyboardEvent, useEffect, useState } from "react";
import { useLabels } from "../core/provider.tsx";
import type { UploadItem } from "../core/types.ts";
import type { Upload } from "../core/use-upload.ts";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { FileActions } from "../parts/file-actions.tsx";
import { FileMeta } from "../parts/file-meta.tsx";
import { FileName } from "../parts/file-name.tsx";
import { EndIcon, StartIcon } from "../parts/icons.tsx";
import { Thumb } from "../parts/thumb.tsx";
import { Track } from "../parts/track.tsx";
import { useObjectUrl } from "../parts/use-object-url.ts";

export interface FilePreviewProps {
  /** What `useUpload` returned. */
  upload: Upload;
  emptyText?: string;
  classNames?: ClassNames<"root" | "stage" | "caption">;
}

/** Shows one file at a time, large: pictures, videos, sound, and the first lines of text. */
export function FilePreview({ upload, emptyText = "Nothing to show yet.", classNames }: FilePreviewProps) {
  const labels = useLabels();
  const { items } = upload;
  const [shownId, setShownId] = useState<string | null>(null);
  const found = items.findIndex(({ id }) => id === shownId);
  const index = found === -1 ? items.length - 1 : found;
  const item = items[index];
  const go = (step: number) => setShownId(items[(index + step + items.length) % items.length]?.id ?? null);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const isRtl = getComputedStyle(event.currentTarget).direction === "rtl";
    if (event.key === "ArrowRight") go(isRtl ? -1 : 1);
    if (event.key === "ArrowLeft") go(isRtl ? 1 : -1);
  };
  return (
    <section className={cx("us-ui us-preview", classNames?.root)} aria-label={labels.files}>
      <div className={cx("us-preview-stage", classNames?.stage)}>
        {item === undefined ? <p className="us-empty">{emptyText}</p> : <Stage key={item.id} item={item} />}
      </div>
      {item !== undefined && (
        <div className={cx("us-preview-caption", classNames?.caption)}>
          <div className="us-row-main">
            <FileName name={item.file.name} />
            <FileMeta item={item} />
            {(item.status === "uploading" || item.status === "waiting") && <Track item={item} />}
          </div>
          <FileActions item={item} actions={upload.actions} />
          {items.length > 1 && (
            <div className="us-preview-turn" role="toolbar" aria-label={labels.files} onKeyDown={onKeyDown}>
              <button type="button" className="us-icon-button" aria-label="Previous" onClick={() => go(-1)}>
                <StartIcon />
              </button>
              <span className="us-hint">
                {index + 1}/{items.length}
              </span>
              <button type="button" className="us-icon-button" aria-label="Next" onClick={() => go(1)}>
                <EndIcon />
              </button>
            </div>
          )}
        </div>
      )}
    </section>
  );
}

function Stage({ item }: { item: UploadItem }) {
  const { file, previewUrl } = item;
  const family = file.type.split("/", 1)[0];
  const soundUrl = useObjectUrl(family === "audio" ? file : null);
  if (previewUrl !== null && family === "image") return <img src={previewUrl} alt={file.name} />;
  // biome-ignore lint/a11y/useMediaCaption: a file that is being uploaded has none
  if (previewUrl !== null) return <video src={previewUrl} controls playsInline />;
  // biome-ignore lint/a11y/useMediaCaption: a file that is being uploaded has none
  if (soundUrl !== null) return <audio src={soundUrl} controls />;
  if (family === "text" || file.type === "application/json") return <TextStart file={file} />;
  return <Thumb item={item} />;
}

function TextStart({ file }: { file: File }) {
  const [text, setText] = useState("");
  useEffect(() => {
    let isMounted = true;
    void file
      .slice(0, 2_000)
      .text()
      .then((start) => isMounted && setText(start));
    return () => {
      isMounted = false;
    };
  }, [file]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse must be able to scroll it
    <pre tabIndex={0}>{text}</pre>
  );
}
