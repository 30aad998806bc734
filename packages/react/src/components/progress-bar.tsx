"use client";

import { formatBytes, formatPercent, formatSeconds } from "../core/format.ts";
import { useSurroundings } from "../core/provider.tsx";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { ChooseButton } from "../parts/choose-button.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { CurrentFile } from "../parts/current-file.tsx";
import { FleetingButton } from "../parts/fleeting-button.tsx";
import { Root } from "../parts/root.tsx";
import { TotalTrack } from "../parts/total-track.tsx";

export type ProgressBarProps = UploadProps & {
  classNames?: ClassNames<"root" | "bar" | "numbers" | "button">;
};

/** One bar for everything, with bytes, speed and the time that is left, and a pause for all. */
export function ProgressBar({ classNames, ...props }: ProgressBarProps) {
  const upload = useGivenUpload(props);
  const { labels, locale } = useSurroundings();
  const isView = props.upload !== undefined;
  const { status, sentBytes, totalBytes, bytesPerSec, secondsLeft } = upload;
  const next = status === "paused" ? "resume" : "pause";
  return (
    <Root upload={upload} isView={isView} className={cx("us-progress-bar", classNames?.root)}>
      <div className="us-progress-bar-head">
        <strong className="us-progress-bar-percent">{formatPercent(upload.progress, locale)}</strong>
        <span className={cx("us-hint", classNames?.numbers)}>
          {formatBytes(sentBytes, locale)} / {formatBytes(totalBytes, locale)}
          {bytesPerSec > 0 && ` · ${formatBytes(bytesPerSec, locale)}/s`}
          {secondsLeft !== null && ` · ${formatSeconds(secondsLeft, locale)} ${labels.left}`}
        </span>
        {(status === "uploading" || status === "paused") && (
          <FleetingButton className="us-link" onClick={() => upload[next]()}>
            {labels[next]}
          </FleetingButton>
        )}
        {isView || <ChooseButton upload={upload} className={classNames?.button} />}
      </div>
      <TotalTrack upload={upload} className={cx("us-progress-bar-track", classNames?.bar)} />
      <CurrentFile upload={upload} />
    </Root>
  );
}
