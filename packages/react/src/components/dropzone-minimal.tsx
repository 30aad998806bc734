"use client";

import { useLabels } from "../core/provider.tsx";
import { usePageDrag } from "../core/use-page-drag.ts";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { FileRows } from "../parts/file-rows.tsx";
import { ClipIcon } from "../parts/icons.tsx";
import { Root } from "../parts/root.tsx";
import { UnfinishedRows } from "../parts/unfinished-rows.tsx";

export type DropzoneMinimalProps = UploadProps & {
  classNames?: ClassNames<"root" | "area" | "button" | "list" | "item">;
};

/** A single line that becomes a drop target when files are dragged over the page. */
export function DropzoneMinimal({ classNames, ...props }: DropzoneMinimalProps) {
  const upload = useGivenUpload(props);
  const labels = useLabels();
  const isTarget = usePageDrag() || upload.drag !== null;
  const invitation = upload.drag === "reject" ? labels.notAccepted : labels.dropHere;
  return (
    <Root
      upload={upload}
      className={cx("us-minimal", classNames?.root)}
      data-target={isTarget ? "" : undefined}
    >
      <div className={cx("us-minimal-area", classNames?.area)}>
        <ClipIcon />
        {isTarget ? (
          <span>{invitation}</span>
        ) : (
          <span>
            <button {...upload.getButtonProps()} className={cx("us-link", classNames?.button)}>
              {labels.chooseFiles}
            </button>
            <span className="us-hint">{labels.orDrop}</span>
          </span>
        )}
      </div>
      <UnfinishedRows upload={upload} classNames={classNames} />
      <FileRows items={upload.items} actions={upload.actions} classNames={classNames} />
    </Root>
  );
}
