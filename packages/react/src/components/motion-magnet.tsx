"use client";

import { type DragEvent, type ReactNode, useRef } from "react";
import { useLabels } from "../core/provider.tsx";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { ChooseButton } from "../parts/choose-button.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { FileRows } from "../parts/file-rows.tsx";
import { UploadIcon } from "../parts/icons.tsx";
import { Root } from "../parts/root.tsx";
import { UnfinishedRows } from "../parts/unfinished-rows.tsx";

export type MotionMagnetProps = UploadProps & {
  title?: ReactNode;
  classNames?: ClassNames<"root" | "area" | "orb" | "button" | "list" | "item">;
};

/** A target that leans towards what is dragged over it. */
export function MotionMagnet({ title, classNames, ...props }: MotionMagnetProps) {
  const upload = useGivenUpload(props);
  const labels = useLabels();
  const area = useRef<HTMLDivElement>(null);

  const pull = (x: number, y: number) => {
    area.current?.style.setProperty("--us-x", x.toFixed(3));
    area.current?.style.setProperty("--us-y", y.toFixed(3));
  };
  const onDragOver = (event: DragEvent<HTMLElement>) => {
    const box = area.current?.getBoundingClientRect();
    if (box === undefined) return;
    pull(((event.clientX - box.left) / box.width) * 2 - 1, ((event.clientY - box.top) / box.height) * 2 - 1);
  };
  const letGo = () => pull(0, 0);
  return (
    <Root
      upload={upload}
      className={cx("us-magnet", classNames?.root)}
      onDragOver={onDragOver}
      onDragLeave={letGo}
      onDrop={letGo}
    >
      <div ref={area} className={cx("us-magnet-area", classNames?.area)}>
        <span className={cx("us-magnet-orb", classNames?.orb)}>
          <UploadIcon />
        </span>
        <p className="us-title">
          {upload.drag === "reject" ? labels.notAccepted : (title ?? labels.dropHere)}
        </p>
        <ChooseButton upload={upload} icon={null} className={classNames?.button} />
      </div>
      <UnfinishedRows upload={upload} classNames={classNames} />
      <FileRows items={upload.items} actions={upload.actions} classNames={classNames} />
    </Root>
  );
}
