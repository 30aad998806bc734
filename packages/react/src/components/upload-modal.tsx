"use client";

import { type ReactNode, useId, useRef } from "react";
import { formatPercent } from "../core/format.ts";
import { useSurroundings } from "../core/provider.tsx";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { CloseIcon, UploadIcon } from "../parts/icons.tsx";
import { UploadDropzone } from "./upload-dropzone.tsx";

export type UploadModalProps = UploadProps & {
  /** The label of the button that opens it. */
  children?: ReactNode;
  title?: ReactNode;
  classNames?: ClassNames<"root" | "trigger" | "dialog" | "title">;
};

/** A dialog with a dropzone. Uploads continue when it is closed, and its button tells how far they are. */
export function UploadModal({ children, title, classNames, ...props }: UploadModalProps) {
  const upload = useGivenUpload(props);
  const { labels, locale } = useSurroundings();
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const label = children ?? labels.chooseFiles;
  const isBusy = upload.status === "uploading";
  return (
    <div className={cx("us-ui us-modal", classNames?.root)}>
      <button
        type="button"
        className={cx("us-button", classNames?.trigger)}
        onClick={() => dialog.current?.showModal()}
      >
        <UploadIcon />
        {label}
        {isBusy && <span className="us-modal-percent">{formatPercent(upload.progress, locale)}</span>}
      </button>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog already */}
      <dialog
        ref={dialog}
        className={cx("us-modal-dialog", classNames?.dialog)}
        aria-labelledby={titleId}
        onClick={(event) => event.target === dialog.current && dialog.current.close()}
      >
        <div className="us-modal-body">
          <header className="us-modal-head">
            <h3 id={titleId} className={cx("us-title", classNames?.title)}>
              {title ?? label}
            </h3>
            <button
              type="button"
              className="us-icon-button"
              aria-label={labels.close}
              onClick={() => dialog.current?.close()}
            >
              <CloseIcon />
            </button>
          </header>
          <UploadDropzone upload={upload} />
        </div>
      </dialog>
    </div>
  );
}
