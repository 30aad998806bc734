"use client";

import { type ReactNode, useEffect } from "react";
import { type UploadPropsWithout, useGivenUpload } from "../core/use-upload.ts";
import { ChooseButton } from "../parts/choose-button.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { CurrentFile } from "../parts/current-file.tsx";
import { FleetingButton } from "../parts/fleeting-button.tsx";
import { Root } from "../parts/root.tsx";
import { TotalTrack } from "../parts/total-track.tsx";

export type ButtonUndoProps = UploadPropsWithout<"autoStart"> & {
  children?: ReactNode;
  /** How long the upload can be undone. Default: 5,000. */
  delayMs?: number;
  undoText?: string;
  /** Shown while it waits. */
  waitingText?: string;
  classNames?: ClassNames<"root" | "button" | "undo">;
};

/** Waits briefly before sending, so that a wrong file can be undone. */
export function ButtonUndo(props: ButtonUndoProps) {
  const {
    children,
    delayMs = 5_000,
    undoText = "Undo",
    waitingText = "Sending soon",
    classNames,
    ...rest
  } = props;
  const upload = useGivenUpload(rest, { autoStart: false });
  const { items, start, remove } = upload;
  const staged = items.filter(({ status }) => status === "staged");
  const stagedIds = staged.map(({ id }) => id).join(" ");

  useEffect(() => {
    if (stagedIds === "") return;
    const timer = setTimeout(start, delayMs);
    return () => clearTimeout(timer);
  }, [stagedIds, start, delayMs]);

  return (
    <Root upload={upload} className={cx("us-undo", classNames?.root)}>
      {staged.length === 0 ? (
        <ChooseButton upload={upload} className={classNames?.button}>
          {children}
        </ChooseButton>
      ) : (
        // A new key restarts the ring with every added file.
        <div key={stagedIds} className="us-undo-wait">
          <svg className="us-undo-ring" viewBox="0 0 24 24" aria-hidden="true">
            <circle cx="12" cy="12" r="9" pathLength="1" style={{ animationDuration: `${delayMs}ms` }} />
          </svg>
          <span>{waitingText}</span>
          <FleetingButton
            className={cx("us-button", classNames?.undo)}
            data-quiet=""
            onClick={() => {
              for (const { id } of staged) remove(id);
            }}
          >
            {undoText}
          </FleetingButton>
        </div>
      )}
      {upload.status === "uploading" && <TotalTrack upload={upload} />}
      <CurrentFile upload={upload} />
    </Root>
  );
}
