"use client";

import { formatPercent } from "../core/format.ts";
import { useSurroundings } from "../core/provider.tsx";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { CurrentFile } from "../parts/current-file.tsx";
import { AlertIcon, CheckIcon, UploadIcon } from "../parts/icons.tsx";
import { Root } from "../parts/root.tsx";

export type ProgressRadialProps = UploadProps & {
  classNames?: ClassNames<"root" | "ring" | "button" | "details">;
};

/** A ring that closes; the button in its middle chooses files and says how far they are. */
export function ProgressRadial({ classNames, ...props }: ProgressRadialProps) {
  const upload = useGivenUpload(props);
  const { labels, locale } = useSurroundings();
  const isView = props.upload !== undefined;
  const { status } = upload;
  const isBusy = status === "uploading" || status === "paused";
  const icon = status === "done" ? <CheckIcon /> : status === "failed" ? <AlertIcon /> : <UploadIcon />;
  const face = isBusy ? formatPercent(upload.progress, locale) : icon;
  return (
    <Root upload={upload} isView={isView} className={cx("us-radial", classNames?.root)}>
      <div className={cx("us-radial-ring", classNames?.ring)} data-state={status}>
        <div {...upload.getProgressProps()} className="us-radial-progress">
          <svg viewBox="0 0 100 100" aria-hidden="true">
            <circle cx="50" cy="50" r="44" />
            <circle className="us-radial-arc" cx="50" cy="50" r="44" pathLength="1" />
          </svg>
        </div>
        {isView ? (
          <span className="us-radial-face">{face}</span>
        ) : (
          <button {...upload.getButtonProps()} className={cx("us-radial-face", classNames?.button)}>
            <span className="us-sr">{labels.chooseFiles}</span>
            {face}
          </button>
        )}
      </div>
      <CurrentFile upload={upload} className={classNames?.details} />
    </Root>
  );
}
