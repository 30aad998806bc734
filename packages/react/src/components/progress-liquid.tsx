"use client";

import { formatPercent } from "../core/format.ts";
import { useSurroundings } from "../core/provider.tsx";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { CurrentFile } from "../parts/current-file.tsx";
import { Root } from "../parts/root.tsx";

export type ProgressLiquidProps = UploadProps & {
  classNames?: ClassNames<"root" | "tank" | "details">;
};

/** A tank that fills with waves; the number changes colour exactly at the water line. */
export function ProgressLiquid({ classNames, ...props }: ProgressLiquidProps) {
  const upload = useGivenUpload(props);
  const { labels, locale } = useSurroundings();
  const isView = props.upload !== undefined;
  const text = upload.items.length === 0 ? labels.chooseFiles : formatPercent(upload.progress, locale);
  const face = <span className="us-liquid-text">{text}</span>;
  return (
    <Root upload={upload} isView={isView} className={cx("us-liquid", classNames?.root)}>
      <div className={cx("us-liquid-tank", classNames?.tank)}>
        {isView ? (
          face
        ) : (
          <button
            {...upload.getButtonProps()}
            className="us-liquid-button"
            aria-label={`${labels.chooseFiles} ${text}`}
          >
            {face}
          </button>
        )}
        <div {...upload.getProgressProps()} className="us-liquid-level">
          <div className="us-liquid-wave" />
          <div className="us-liquid-wave us-liquid-wave-2" />
          <span className="us-liquid-text us-liquid-below" aria-hidden="true">
            {text}
          </span>
        </div>
      </div>
      <CurrentFile upload={upload} className={classNames?.details} />
    </Root>
  );
}
