"use client";

import type { ReactNode } from "react";
import { formatPercent, formatSeconds } from "../core/format.ts";
import { useSurroundings } from "../core/provider.tsx";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { CurrentFile } from "../parts/current-file.tsx";
import { AlertIcon, CheckIcon, UploadIcon } from "../parts/icons.tsx";
import { Root } from "../parts/root.tsx";
import { UnfinishedRows } from "../parts/unfinished-rows.tsx";

export type UploadButtonProps = UploadProps & {
  /** The button's label while idle. */
  children?: ReactNode;
  /** False shows the button alone. */
  hasDetails?: boolean;
  classNames?: ClassNames<"root" | "button" | "progress" | "details">;
};

/** A button that chooses files and says how they are doing. */
export function UploadButton({ children, hasDetails = true, classNames, ...props }: UploadButtonProps) {
  const upload = useGivenUpload(props);
  const { labels, locale } = useSurroundings();
  const { status, waitSeconds } = upload;
  const isBusy = status === "uploading" || status === "paused";
  const busyText =
    waitSeconds === null
      ? `${labels.status[isBusy ? status : "uploading"]} ${formatPercent(upload.progress, locale)}`
      : labels.waiting(formatSeconds(waitSeconds, locale));
  const idle = children ?? (upload.rules.maxFileCount === 1 ? labels.chooseFile : labels.chooseFiles);
  const icons: Partial<Record<typeof status, ReactNode>> = { done: <CheckIcon />, failed: <AlertIcon /> };
  return (
    <Root upload={upload} className={cx("us-upload-button", classNames?.root)}>
      <button {...upload.getButtonProps()} className={cx("us-button", classNames?.button)}>
        {icons[status] ?? <UploadIcon />}
        {isBusy ? busyText : idle}
      </button>
      {isBusy && (
        <div {...upload.getProgressProps()} className={cx("us-track", classNames?.progress)}>
          <div className="us-track-fill" />
        </div>
      )}
      {hasDetails && <CurrentFile upload={upload} className={classNames?.details} />}
      {/* A list that others share is theirs to show. */}
      {hasDetails && props.upload === undefined && <UnfinishedRows upload={upload} />}
    </Root>
  );
}
