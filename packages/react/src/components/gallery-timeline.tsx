"use client";

import { useSurroundings } from "../core/provider.tsx";
import { isUnderWay } from "../core/summarize.ts";
import type { UploadItem } from "../core/types.ts";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { ChooseButton } from "../parts/choose-button.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { FileActions } from "../parts/file-actions.tsx";
import { FileMeta } from "../parts/file-meta.tsx";
import { FileName } from "../parts/file-name.tsx";
import { Root } from "../parts/root.tsx";
import { Thumb } from "../parts/thumb.tsx";
import { Track } from "../parts/track.tsx";

export type GalleryTimelineProps = UploadProps & {
  classNames?: ClassNames<"root" | "day" | "entry" | "button">;
};

/** Files along a line of days, by the day each was made, the latest first. */
export function GalleryTimeline({ classNames, ...props }: GalleryTimelineProps) {
  const upload = useGivenUpload(props);
  const { locale } = useSurroundings();
  const isView = props.upload !== undefined;
  const format = new Intl.DateTimeFormat(locale, { dateStyle: "long" });
  return (
    <Root upload={upload} isView={isView} className={cx("us-timeline", classNames?.root)}>
      {isView || <ChooseButton upload={upload} className={classNames?.button} />}
      <ol className="us-timeline-days">
        {groupByDay(upload.items).map(([day, items]) => (
          <li key={day} className={cx("us-timeline-day", classNames?.day)}>
            <time className="us-title" dateTime={day}>
              {format.format(items[0]?.file.lastModified)}
            </time>
            <ul className="us-timeline-entries">
              {items.map((item) => (
                <li
                  key={item.id}
                  className={cx("us-timeline-entry", classNames?.entry)}
                  data-status={item.status}
                >
                  <Thumb item={item} className="us-timeline-thumb" />
                  <div className="us-row-main">
                    <FileName name={item.file.name} />
                    <FileMeta item={item} />
                    {isUnderWay(item) && <Track item={item} />}
                  </div>
                  <FileActions item={item} actions={upload.actions} />
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </Root>
  );
}

/** Days in the user's time zone, not UTC. */
function groupByDay(items: readonly UploadItem[]): [string, UploadItem[]][] {
  const days = new Map<string, UploadItem[]>();
  for (const item of items.toSorted((a, b) => b.file.lastModified - a.file.lastModified)) {
    const made = new Date(item.file.lastModified);
    const two = (number: number) => String(number).padStart(2, "0");
    const day = `${made.getFullYear()}-${two(made.getMonth() + 1)}-${two(made.getDate())}`;
    days.set(day, [...(days.get(day) ?? []), item]);
  }
  return [...days];
}
