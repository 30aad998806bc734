"use client";

import { progressProps } from "../core/prop-getters.ts";
import { useLabels } from "../core/provider.tsx";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { CurrentFile } from "../parts/current-file.tsx";
import { CheckIcon, UploadIcon } from "../parts/icons.tsx";
import { Root } from "../parts/root.tsx";

export type ProgressOrbitProps = UploadProps & {
  /** How many files get their own orbit. Default: 5. */
  maxOrbits?: number;
  classNames?: ClassNames<"root" | "space" | "moon" | "button" | "details">;
};

/** Every file is a moon that goes once around while it uploads. */
export function ProgressOrbit({ maxOrbits = 5, classNames, ...props }: ProgressOrbitProps) {
  const upload = useGivenUpload(props);
  const labels = useLabels();
  const isView = props.upload !== undefined;
  const face = upload.status === "done" ? <CheckIcon /> : <UploadIcon />;
  const moons = upload.items.filter(({ status }) => status !== "rejected").slice(-maxOrbits);
  return (
    <Root upload={upload} isView={isView} className={cx("us-orbit", classNames?.root)}>
      <div className={cx("us-orbit-space", classNames?.space)}>
        {moons.map((item) => (
          <div
            key={item.id}
            {...progressProps(item, item.file.name)}
            className="us-orbit-ring"
            data-status={item.status}
          >
            <span className={cx("us-orbit-moon", classNames?.moon)} />
          </div>
        ))}
        {isView ? (
          <span className="us-orbit-planet">{face}</span>
        ) : (
          <button
            {...upload.getButtonProps()}
            className={cx("us-orbit-planet", classNames?.button)}
            aria-label={labels.chooseFiles}
          >
            {face}
          </button>
        )}
      </div>
      <CurrentFile upload={upload} className={classNames?.details} />
    </Root>
  );
}
