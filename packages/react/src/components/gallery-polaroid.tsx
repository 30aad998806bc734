"use client";

import { useState } from "react";
import { progressProps } from "../core/prop-getters.ts";
import { useLabels } from "../core/provider.tsx";
import type { UploadItem } from "../core/types.ts";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { ChooseButton } from "../parts/choose-button.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { FileActions } from "../parts/file-actions.tsx";
import { FileMeta } from "../parts/file-meta.tsx";
import { Root } from "../parts/root.tsx";
import { Thumb } from "../parts/thumb.tsx";

export type GalleryPolaroidProps = UploadProps & {
  /** Called with every caption written. */
  onCaption?: (item: UploadItem, caption: string) => void;
  words?: { caption?: (name: string) => string };
  classNames?: ClassNames<"root" | "card" | "caption" | "button">;
};

/** Instant photos that develop while they upload, with room for a line under each. */
export function GalleryPolaroid({ onCaption, words = {}, classNames, ...props }: GalleryPolaroidProps) {
  const upload = useGivenUpload(props);
  const labels = useLabels();
  const isView = props.upload !== undefined;
  const [captions, setCaptions] = useState<Record<string, string>>({});
  const nameCaption = words.caption ?? ((name: string) => `Caption for ${name}`);
  return (
    <Root upload={upload} isView={isView} className={cx("us-polaroid", classNames?.root)}>
      {isView || <ChooseButton upload={upload} className={classNames?.button} />}
      <ul className="us-polaroid-wall" aria-label={labels.files}>
        {upload.items.map((item) => (
          <li
            key={item.id}
            className={cx("us-polaroid-card us-light", classNames?.card)}
            data-status={item.status}
          >
            <div {...progressProps(item, item.file.name)} className="us-polaroid-photo">
              <Thumb item={item} className="us-polaroid-thumb" />
            </div>
            <input
              className={cx("us-polaroid-caption", classNames?.caption)}
              value={captions[item.id] ?? ""}
              placeholder={item.file.name}
              aria-label={nameCaption(item.file.name)}
              onChange={({ currentTarget }) => setCaptions({ ...captions, [item.id]: currentTarget.value })}
              onBlur={({ currentTarget }) => currentTarget.value && onCaption?.(item, currentTarget.value)}
            />
            <FileMeta item={item} />
            <FileActions item={item} actions={upload.actions} className="us-polaroid-actions" />
          </li>
        ))}
      </ul>
    </Root>
  );
}
