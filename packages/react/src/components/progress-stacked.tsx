"use client";

import { progressProps } from "../core/prop-getters.ts";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { ChooseButton } from "../parts/choose-button.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { FileActions } from "../parts/file-actions.tsx";
import { FileMeta } from "../parts/file-meta.tsx";
import { FileName } from "../parts/file-name.tsx";
import { Root } from "../parts/root.tsx";

export type ProgressStackedProps = UploadProps & {
  classNames?: ClassNames<"root" | "bar" | "segment" | "legend" | "button">;
};

/** One bar in which every file has a share as large as its size, each filling by itself. */
export function ProgressStacked({ classNames, ...props }: ProgressStackedProps) {
  const upload = useGivenUpload(props);
  const isView = props.upload !== undefined;
  const { items } = upload;
  return (
    <Root upload={upload} isView={isView} className={cx("us-stacked", classNames?.root)}>
      {isView || <ChooseButton upload={upload} className={classNames?.button} />}
      {items.length > 0 && (
        <div className={cx("us-stacked-bar", classNames?.bar)}>
          {items.map((item) => {
            const progress = progressProps(item, item.file.name);
            return (
              <div
                key={item.id}
                {...progress}
                style={{ ...progress.style, flexGrow: item.totalBytes }}
                className={cx("us-stacked-segment", classNames?.segment)}
                title={item.file.name}
              >
                <div className="us-stacked-fill" />
              </div>
            );
          })}
        </div>
      )}
      <ul className={cx("us-stacked-legend", classNames?.legend)}>
        {items.map((item) => (
          <li key={item.id} className="us-stacked-file" data-status={item.status}>
            <span className="us-stacked-dot" aria-hidden="true" />
            <div className="us-row-main">
              <FileName name={item.file.name} />
              <FileMeta item={item} />
            </div>
            <FileActions item={item} actions={upload.actions} />
          </li>
        ))}
      </ul>
    </Root>
  );
}
