"use client";

import { useEffect, useId, useRef, useState } from "react";
import { formatBytes } from "../core/format.ts";
import { useSurroundings } from "../core/provider.tsx";
import { findFault } from "../core/rules.ts";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { Chip } from "../parts/chip.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { ClipIcon, DownIcon, UpIcon } from "../parts/icons.tsx";
import { Root } from "../parts/root.tsx";

export type AttachmentTrayProps = UploadProps & {
  /** Maximum total size of all attachments in bytes. Default: no limit. */
  maxTotalSize?: number;
  words?: { attach?: string; attachments?: string; full?: (name: string) => string };
  classNames?: ClassNames<"root" | "bar" | "chips" | "chip">;
};

/** A bar under an editor that folds its attachments away and keeps them within what a mail can carry. */
export function AttachmentTray({ maxTotalSize, words = {}, classNames, ...props }: AttachmentTrayProps) {
  const { labels, locale } = useSurroundings();
  const spent = useRef(0);
  const full = words.full ?? ((name: string) => `${name} exceeds the total size limit.`);
  const upload = useGivenUpload({
    ...props,
    validate(file) {
      const fault = props.validate?.(file) ?? null;
      if (fault !== null || maxTotalSize === undefined) return fault;
      // Files rejected for other reasons take up no space.
      if (findFault(file, upload.rules, labels, locale) !== null) return null;
      if (spent.current + file.size > maxTotalSize) return full(file.name);
      // Files dropped together share the remaining space.
      spent.current += file.size;
      return null;
    },
  });
  useEffect(() => {
    spent.current = upload.totalBytes;
  });
  const [isOpen, setIsOpen] = useState(true);
  const listId = useId();
  const { items } = upload;
  const title = words.attachments ?? "Attachments";
  return (
    <Root upload={upload} className={cx("us-tray", classNames?.root)}>
      <div className={cx("us-tray-bar", classNames?.bar)}>
        <button
          {...upload.getButtonProps()}
          className="us-icon-button"
          aria-label={words.attach ?? "Attach files"}
        >
          <ClipIcon />
        </button>
        <button
          type="button"
          className="us-tray-title"
          aria-expanded={isOpen}
          aria-controls={listId}
          onClick={() => setIsOpen(!isOpen)}
        >
          {title} ({items.length}){isOpen ? <DownIcon /> : <UpIcon />}
        </button>
        <span className="us-hint">
          {formatBytes(upload.totalBytes, locale)}
          {maxTotalSize !== undefined && ` / ${formatBytes(maxTotalSize, locale)}`}
        </span>
      </div>
      <ul
        id={listId}
        className={cx("us-chips", classNames?.chips)}
        aria-label={title}
        hidden={!isOpen || items.length === 0}
      >
        {items.map((item) => (
          <Chip key={item.id} item={item} actions={upload.actions} className={classNames?.chip} />
        ))}
      </ul>
    </Root>
  );
}
