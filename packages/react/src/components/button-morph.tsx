"use client";

import { type ReactNode, useEffect } from "react";
import { formatPercent, formatSeconds } from "../core/format.ts";
import { useSurroundings } from "../core/provider.tsx";
import type { ListStatus } from "../core/types.ts";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { findCurrent } from "../parts/current-file.tsx";
import { CheckIcon, CloseIcon, PlayIcon, RetryIcon, UploadIcon } from "../parts/icons.tsx";
import { Root } from "../parts/root.tsx";

export type ButtonMorphProps = UploadProps & {
  children?: ReactNode;
  /** How long the tick is shown. Default: 2,500. */
  resetAfterMs?: number;
  classNames?: ClassNames<"root" | "button" | "error">;
};

/** One control for everything: it chooses, fills up, cancels, retries, ticks, and is a button again. */
export function ButtonMorph({ children, resetAfterMs = 2_500, classNames, ...props }: ButtonMorphProps) {
  const upload = useGivenUpload(props);
  const { labels, locale } = useSurroundings();
  const { status, clear, waitSeconds } = upload;
  const failed = upload.items.filter((item) => item.status === "failed");
  const failure = findCurrent(upload.items)?.error;

  useEffect(() => {
    if (status !== "done") return;
    const timer = setTimeout(clear, resetAfterMs);
    return () => clearTimeout(timer);
  }, [status, clear, resetAfterMs]);

  const choose = () => {
    clear();
    upload.open();
  };
  const retry = () => {
    for (const { id } of failed) upload.retry(id);
  };
  const idle = { icon: <UploadIcon />, text: children ?? labels.chooseFiles, act: choose };
  const faces: Record<ListStatus, { icon: ReactNode; text: ReactNode; act: () => void }> = {
    idle,
    staged: { icon: <UploadIcon />, text: labels.start, act: () => upload.start() },
    uploading: {
      icon: <CloseIcon />,
      text:
        waitSeconds === null
          ? `${labels.cancel} ${formatPercent(upload.progress, locale)}`
          : `${labels.cancel} · ${labels.waiting(formatSeconds(waitSeconds, locale))}`,
      act: () => upload.cancel(),
    },
    paused: { icon: <PlayIcon />, text: labels.resume, act: () => upload.resume() },
    failed: failed.length > 0 ? { icon: <RetryIcon />, text: labels.retry, act: retry } : idle,
    done: { icon: <CheckIcon />, text: labels.status.done, act: choose },
  };
  const face = faces[status];
  return (
    <Root upload={upload} className={cx("us-morph", classNames?.root)}>
      <div className="us-morph-pill" data-state={status}>
        {status === "uploading" && <div {...upload.getProgressProps()} className="us-morph-fill" />}
        <button
          type="button"
          className={cx("us-morph-button", classNames?.button)}
          disabled={upload.isDisabled}
          onClick={face.act}
        >
          {face.icon}
          {face.text}
        </button>
      </div>
      {status === "failed" && failure && (
        <p className={cx("us-meta us-error", classNames?.error)}>{failure.message}</p>
      )}
    </Root>
  );
}
