"use client";

import { formatBytes, formatPercent } from "../core/format.ts";
import { useSurroundings } from "../core/provider.tsx";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { ChooseButton } from "../parts/choose-button.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { FileRows } from "../parts/file-rows.tsx";
import { Root } from "../parts/root.tsx";
import { UnfinishedRows } from "../parts/unfinished-rows.tsx";

export interface BentoKind {
  label: string;
  /** For the file chooser, such as `image/*`. */
  accept: string;
}

export type DropzoneBentoProps = UploadProps & {
  /** One tile each; a tile accepts only its kind of file. */
  kinds?: BentoKind[];
  classNames?: ClassNames<"root" | "main" | "tile" | "total" | "list" | "item">;
};

const usualKinds: BentoKind[] = [
  { label: "Photos", accept: "image/*" },
  { label: "Videos", accept: "video/*" },
  { label: "Documents", accept: ".pdf,.doc,.docx,.txt,.md" },
];

/** A board of tiles: drop here, choose by kind, see the total, see the files. */
export function DropzoneBento({ kinds = usualKinds, classNames, ...props }: DropzoneBentoProps) {
  const upload = useGivenUpload(props);
  const { labels, locale } = useSurroundings();
  return (
    <Root upload={upload} className={cx("us-bento", classNames?.root)}>
      <div className={cx("us-bento-tile us-bento-main", classNames?.main)}>
        <p className="us-title">{upload.drag === "reject" ? labels.notAccepted : labels.dropHere}</p>
        <ChooseButton upload={upload} />
        {upload.hint !== "" && <p className="us-hint">{upload.hint}</p>}
      </div>
      <div className="us-bento-kinds">
        {kinds.map(({ label, accept }) => (
          <button
            key={label}
            type="button"
            className={cx("us-bento-tile us-bento-kind", classNames?.tile)}
            disabled={upload.isDisabled}
            onClick={() => upload.open({ accept })}
          >
            {label}
          </button>
        ))}
      </div>
      <div className={cx("us-bento-tile us-bento-total", classNames?.total)}>
        <span className="us-bento-number">{formatPercent(upload.progress, locale)}</span>
        <span className="us-hint">
          {formatBytes(upload.sentBytes, locale)} / {formatBytes(upload.totalBytes, locale)}
        </span>
        <div {...upload.getProgressProps()} className="us-track">
          <div className="us-track-fill" />
        </div>
      </div>
      {upload.items.length + upload.unfinished.length > 0 && (
        <div className="us-bento-tile us-bento-files">
          <UnfinishedRows upload={upload} classNames={classNames} />
          <FileRows items={upload.items} actions={upload.actions} classNames={classNames} />
        </div>
      )}
    </Root>
  );
}
