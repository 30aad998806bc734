"use client";

import type { ReactNode } from "react";
import { useLabels } from "../core/provider.tsx";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { ChooseButton } from "../parts/choose-button.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { FileRows } from "../parts/file-rows.tsx";
import { Root } from "../parts/root.tsx";
import { UnfinishedRows } from "../parts/unfinished-rows.tsx";

export type DropzoneGlassProps = UploadProps & {
  title?: ReactNode;
  classNames?: ClassNames<"root" | "panel" | "title" | "button" | "list" | "item">;
};

/** Frosted glass; behind it, out of focus, the picture that was added last. */
export function DropzoneGlass({ title, classNames, ...props }: DropzoneGlassProps) {
  const upload = useGivenUpload(props);
  const labels = useLabels();
  const behind = upload.items.findLast(
    ({ previewUrl, file }) => previewUrl && file.type.startsWith("image/"),
  );
  return (
    <Root upload={upload} className={cx("us-glass", classNames?.root)} isClickable>
      {behind?.previewUrl ? (
        <img className="us-glass-behind" src={behind.previewUrl} alt="" />
      ) : (
        <div className="us-glass-behind" aria-hidden="true" />
      )}
      <div className={cx("us-glass-panel", classNames?.panel)}>
        <p className={cx("us-title", classNames?.title)}>
          {upload.drag === "reject" ? labels.notAccepted : (title ?? labels.dropHere)}
        </p>
        <ChooseButton upload={upload} className={classNames?.button} />
        {upload.hint !== "" && <p className="us-hint">{upload.hint}</p>}
        <div className="us-glass-list" data-us-control="">
          <UnfinishedRows upload={upload} classNames={classNames} />
          <FileRows items={upload.items} actions={upload.actions} classNames={classNames} />
        </div>
      </div>
    </Root>
  );
}
