"use client";

import { type DragEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useLabels } from "../core/provider.tsx";
import { isUnderWay } from "../core/summarize.ts";
import type { UploadItem } from "../core/types.ts";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { FileActions } from "../parts/file-actions.tsx";
import { FileMeta } from "../parts/file-meta.tsx";
import { FileName } from "../parts/file-name.tsx";
import { PlusIcon } from "../parts/icons.tsx";
import { Root } from "../parts/root.tsx";
import { Thumb } from "../parts/thumb.tsx";
import { Track } from "../parts/track.tsx";

export type GalleryGridProps = UploadProps & {
  /** Called with every new order. */
  onReorder?: (items: readonly UploadItem[]) => void;
  words?: { cover?: string; move?: (name: string) => string };
  classNames?: ClassNames<"root" | "tile" | "add">;
};

/** Pictures in an order that people choose, by dragging or with the arrow keys; the first is the cover. */
export function GalleryGrid({ onReorder, words = {}, classNames, ...props }: GalleryGridProps) {
  const upload = useGivenUpload(props);
  const labels = useLabels();
  const isView = props.upload !== undefined;
  const { items, move } = upload;
  const [carriedId, setCarriedId] = useState<string | null>(null);
  const order = items.map(({ id }) => id).join(" ");
  const tellOrder = useRef(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: told once for every new order, not for every progress
  useEffect(() => {
    if (tellOrder.current) onReorder?.(items);
    tellOrder.current = false;
  }, [order]);

  const moveTo = (id: string, index: number) => {
    if (index < 0 || index >= items.length) return;
    tellOrder.current = true;
    move(id, index);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>, id: string, index: number) => {
    const isRtl = getComputedStyle(event.currentTarget).direction === "rtl";
    const steps: Record<string, number> = { ArrowRight: isRtl ? -1 : 1, ArrowLeft: isRtl ? 1 : -1 };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    moveTo(id, index + step);
  };
  const onDragOver = (event: DragEvent, index: number) => {
    if (carriedId === null) return;
    event.preventDefault();
    if (items[index]?.id !== carriedId) moveTo(carriedId, index);
  };
  return (
    <Root upload={upload} isView={isView} className={cx("us-grid", classNames?.root)}>
      <ul className="us-grid-tiles" aria-label={labels.files}>
        {items.map((item, index) => (
          <li
            key={item.id}
            className={cx("us-grid-tile", classNames?.tile)}
            data-status={item.status}
            data-carried={item.id === carriedId ? "" : undefined}
            draggable
            onDragStart={() => setCarriedId(item.id)}
            onDragEnd={() => setCarriedId(null)}
            onDragOver={(event) => onDragOver(event, index)}
          >
            <button
              type="button"
              className="us-grid-handle"
              aria-label={(words.move ?? ((name) => `Move ${name} with the arrow keys`))(item.file.name)}
              onKeyDown={(event) => onKeyDown(event, item.id, index)}
            >
              <Thumb item={item} className="us-grid-thumb" />
            </button>
            {index === 0 && <span className="us-grid-cover">{words.cover ?? "Cover"}</span>}
            <div className="us-grid-caption">
              <FileName name={item.file.name} />
              <FileMeta item={item} />
              {isUnderWay(item) && <Track item={item} />}
            </div>
            <FileActions item={item} actions={upload.actions} className="us-grid-actions" />
          </li>
        ))}
        {isView || (
          <li className="us-grid-tile us-grid-new">
            <button {...upload.getButtonProps()} className={cx("us-grid-add", classNames?.add)}>
              <PlusIcon />
              {labels.chooseFiles}
            </button>
          </li>
        )}
      </ul>
    </Root>
  );
}
