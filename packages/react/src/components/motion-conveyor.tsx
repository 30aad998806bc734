"use client";

import { progressProps } from "../core/prop-getters.ts";
import { isUnderWay } from "../core/summarize.ts";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { ChooseButton } from "../parts/choose-button.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { CurrentFile } from "../parts/current-file.tsx";
import { CheckIcon } from "../parts/icons.tsx";
import { Root } from "../parts/root.tsx";
import { Thumb } from "../parts/thumb.tsx";

export type MotionConveyorProps = UploadProps & {
  classNames?: ClassNames<"root" | "belt" | "parcel" | "button">;
};

/** Files ride a belt from the device to the store, each as far as it has come. */
export function MotionConveyor({ classNames, ...props }: MotionConveyorProps) {
  const upload = useGivenUpload(props);
  const isView = props.upload !== undefined;
  const riding = upload.items.filter((item) => isUnderWay(item) || item.status === "paused");
  const arrived = upload.items.filter(({ status }) => status === "done").length;
  return (
    <Root upload={upload} isView={isView} className={cx("us-conveyor", classNames?.root)}>
      <div
        className={cx("us-conveyor-belt", classNames?.belt)}
        data-running={riding.length > 0 ? "" : undefined}
      >
        {riding.map((item) => (
          <div
            key={item.id}
            {...progressProps(item, item.file.name)}
            className={cx("us-conveyor-parcel", classNames?.parcel)}
          >
            <Thumb item={item} />
          </div>
        ))}
        <span className="us-conveyor-end" data-full={arrived > 0 ? "" : undefined}>
          <CheckIcon />
          {arrived}
        </span>
      </div>
      <div className="us-conveyor-foot">
        {isView || <ChooseButton upload={upload} className={classNames?.button} />}
        <CurrentFile upload={upload} />
      </div>
    </Root>
  );
}
