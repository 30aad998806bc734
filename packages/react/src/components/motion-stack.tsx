"use client";

import { useLabels } from "../core/provider.tsx";
import { isUnderWay } from "../core/summarize.ts";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { ChooseButton } from "../parts/choose-button.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { findCurrent } from "../parts/current-file.tsx";
import { FileActions } from "../parts/file-actions.tsx";
import { FileMeta } from "../parts/file-meta.tsx";
import { FileName } from "../parts/file-name.tsx";
import { Root } from "../parts/root.tsx";
import { Thumb } from "../parts/thumb.tsx";
import { Track } from "../parts/track.tsx";

export type MotionStackProps = UploadProps & {
  classNames?: ClassNames<"root" | "card" | "button">;
};

/** Files as a stack of cards: the one being uploaded is on top, and finished ones fly off. */
export function MotionStack({ classNames, ...props }: MotionStackProps) {
  const upload = useGivenUpload(props);
  const labels = useLabels();
  const isView = props.upload !== undefined;
  const { items } = upload;
  const top = findCurrent(items);
  const left = items.filter(({ status }) => status !== "done").length;
  const gone = items.filter(({ status, id }) => status === "done" && id !== top?.id).slice(-3);
  return (
    <Root upload={upload} isView={isView} className={cx("us-stack", classNames?.root)}>
      <div className="us-stack-pile">
        {left > 2 && <div className="us-stack-card us-stack-third" aria-hidden="true" />}
        {left > 1 && <div className="us-stack-card us-stack-second" aria-hidden="true" />}
        {gone.map((item) => (
          <div key={item.id} className="us-stack-card us-stack-gone" aria-hidden="true">
            <Thumb item={item} />
          </div>
        ))}
        {top === null ? (
          <div className="us-stack-card us-stack-empty">{labels.dropHere}</div>
        ) : (
          <div key={top.id} className={cx("us-stack-card", classNames?.card)} data-status={top.status}>
            <Thumb item={top} className="us-stack-thumb" />
            <div className="us-stack-line">
              <div className="us-row-main">
                <FileName name={top.file.name} />
                <FileMeta item={top} />
              </div>
              <FileActions item={top} actions={upload.actions} />
            </div>
            {isUnderWay(top) && <Track item={top} />}
          </div>
        )}
      </div>
      <div className="us-stack-foot">
        {isView || <ChooseButton upload={upload} className={classNames?.button} />}
        {items.length > 0 && (
          <span className="us-hint">
            {items.length - left} / {items.length}
          </span>
        )}
      </div>
    </Root>
  );
}
