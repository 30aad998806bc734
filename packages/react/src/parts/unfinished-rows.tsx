import { formatBytes, formatPercent } from "../core/format.ts";
import { progressProps } from "../core/prop-getters.ts";
import { useSurroundings } from "../core/provider.tsx";
import type { Upload } from "../core/use-upload.ts";
import { type ClassNames, cx } from "./class-names.ts";
import { FileName } from "./file-name.tsx";
import { FleetingButton } from "./fleeting-button.tsx";
import { CloseIcon } from "./icons.tsx";
import { Thumb } from "./thumb.tsx";

interface UnfinishedRowsProps {
  upload: Upload;
  classNames?: ClassNames<"list" | "item"> | undefined;
}

/** A row per upload that an earlier page left unfinished; nothing if there are none. */
export function UnfinishedRows({ upload, classNames }: UnfinishedRowsProps) {
  const { labels, locale } = useSurroundings();
  if (upload.unfinished.length === 0) return null;
  return (
    <ul className={cx("us-rows us-unfinished", classNames?.list)} aria-label={labels.unfinished}>
      {upload.unfinished.map((saved) => (
        <li key={saved.id} className={cx("us-row", classNames?.item)} data-status="unfinished">
          <Thumb item={{ file: { name: saved.name, type: "" }, previewUrl: null }} />
          <div className="us-row-main">
            <FileName name={saved.name} />
            <span className="us-meta">
              {labels.doneOf(formatPercent(saved.progress, locale), formatBytes(saved.totalBytes, locale))}
            </span>
            <div {...progressProps({ ...saved, status: "paused" }, saved.name)} className="us-track">
              <div className="us-track-fill" />
            </div>
          </div>
          <FleetingButton
            className="us-link"
            aria-label={`${labels.continue} ${saved.name}`}
            onClick={() => upload.continueUpload(saved.id)}
          >
            {labels.continue}
          </FleetingButton>
          <FleetingButton
            className="us-icon-button"
            aria-label={`${labels.discard} ${saved.name}`}
            onClick={() => upload.discard(saved.id)}
          >
            <CloseIcon />
          </FleetingButton>
        </li>
      ))}
    </ul>
  );
}
