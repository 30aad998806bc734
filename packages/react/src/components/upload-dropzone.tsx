"use client";

import type { ReactNode } from "react";
import { useLabels } from "../core/provider.tsx";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { ChooseButton } from "../parts/choose-button.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { FileRows } from "../parts/file-rows.tsx";
import { UploadIcon } from "../parts/icons.tsx";
import { Root } from "../parts/root.tsx";
import { UnfinishedRows } from "../parts/unfinished-rows.tsx";

export type UploadDropzoneProps = UploadProps & {
  /** The line above the button. */
  title?: ReactNode;
  /** False leaves the list to you, such as to a `FileList` elsewhere. */
  hasList?: boolean;
  classNames?: ClassNames<"root" | "area" | "title" | "button" | "hint" | "list" | "item">;
};

/** An area to drop files, with a button and a list of the selected files. */
export function UploadDropzone({ title, hasList = true, classNames, ...props }: UploadDropzoneProps) {
  const upload = useGivenUpload(props);
  const labels = useLabels();
  const message =
    upload.drag === null
      ? (title ?? labels.dropHere)
      : upload.drag === "accept"
        ? labels.dropNow
        : labels.notAccepted;
  return (
    <Root upload={upload} className={cx("us-dropzone", classNames?.root)} isClickable>
      <div className={cx("us-dropzone-area", classNames?.area)}>
        <span className="us-dropzone-icon">
          <UploadIcon />
        </span>
        <p className={cx("us-title", classNames?.title)}>{message}</p>
        <ChooseButton upload={upload} icon={null} className={classNames?.button} />
        {upload.hint !== "" && <p className={cx("us-hint", classNames?.hint)}>{upload.hint}</p>}
      </div>
      {hasList && (
        <div data-us-control="">
          <UnfinishedRows upload={upload} classNames={classNames} />
          <FileRows items={upload.items} actions={upload.actions} classNames={classNames} />
        </div>
      )}
    </Root>
  );
}
