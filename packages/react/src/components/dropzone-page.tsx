"use client";

import { type ReactNode, useEffect } from "react";
import { useLabels } from "../core/provider.tsx";
import { usePageDrag } from "../core/use-page-drag.ts";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { FileRows } from "../parts/file-rows.tsx";
import { UploadIcon } from "../parts/icons.tsx";
import { Root } from "../parts/root.tsx";
import { UnfinishedRows } from "../parts/unfinished-rows.tsx";

export type DropzonePageProps = UploadProps & {
  /** The page or a part of it; it does not need to call `useUpload`. */
  children?: ReactNode;
  classNames?: ClassNames<"root" | "overlay" | "list" | "item">;
};

/** Makes the whole page a target: a curtain falls while files are dragged over it, and pasting works anywhere. */
export function DropzonePage({ children, classNames, ...props }: DropzonePageProps) {
  const upload = useGivenUpload(props);
  const labels = useLabels();
  const isDragging = usePageDrag();
  const { add } = upload;
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      const files = event.clipboardData?.files ?? [];
      if (files.length === 0 || event.defaultPrevented) return;
      event.preventDefault();
      add(files);
    };
    document.addEventListener("paste", paste);
    return () => document.removeEventListener("paste", paste);
  }, [add]);
  return (
    <Root upload={upload} className={cx("us-page", classNames?.root)}>
      {children}
      <div className="us-page-files">
        <button {...upload.getButtonProps()} className="us-button" data-quiet="">
          <UploadIcon />
          {labels.chooseFiles}
        </button>
        <UnfinishedRows upload={upload} classNames={classNames} />
        <FileRows items={upload.items} actions={upload.actions} classNames={classNames} />
      </div>
      {isDragging && (
        <div className={cx("us-page-overlay", classNames?.overlay)} data-drag={upload.drag ?? undefined}>
          <p className="us-page-message">
            <UploadIcon />
            {upload.drag === "reject" ? labels.notAccepted : labels.dropNow}
          </p>
        </div>
      )}
    </Root>
  );
}
