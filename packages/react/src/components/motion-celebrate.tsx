"use client";

import { type CSSProperties, type ReactNode, useEffect, useState } from "react";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { ChooseButton } from "../parts/choose-button.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { CurrentFile } from "../parts/current-file.tsx";
import { CheckIcon } from "../parts/icons.tsx";
import { Root } from "../parts/root.tsx";
import { TotalTrack } from "../parts/total-track.tsx";

export type MotionCelebrateProps = UploadProps & {
  children?: ReactNode;
  /** Shown when everything is uploaded. */
  doneText?: ReactNode;
  classNames?: ClassNames<"root" | "button" | "done">;
};

const pieces = Array.from({ length: 28 }, (_, i) => i);

/** Throws confetti when the last file is there; only says so where motion is unwelcome. */
export function MotionCelebrate({
  children,
  doneText = "All done!",
  classNames,
  ...props
}: MotionCelebrateProps) {
  const upload = useGivenUpload(props);
  const isView = props.upload !== undefined;
  const isDone = upload.status === "done";
  const [isFlying, setIsFlying] = useState(false);
  useEffect(() => {
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    setIsFlying(isDone && !isCalm);
  }, [isDone]);
  return (
    <Root upload={upload} isView={isView} className={cx("us-celebrate", classNames?.root)}>
      {isFlying && (
        <div className="us-celebrate-sky" aria-hidden="true" onAnimationEnd={() => setIsFlying(false)}>
          {pieces.map((i) => (
            <i key={i} className="us-celebrate-piece" style={throwPiece(i)} />
          ))}
        </div>
      )}
      {isDone && (
        <p className={cx("us-celebrate-done", classNames?.done)}>
          <CheckIcon />
          {doneText}
        </p>
      )}
      {isView || (
        <ChooseButton upload={upload} className={classNames?.button}>
          {children}
        </ChooseButton>
      )}
      {upload.status === "uploading" && <TotalTrack upload={upload} />}
      <CurrentFile upload={upload} />
    </Root>
  );
}

/** Deterministic, so that server and browser render the same markup. */
function throwPiece(i: number): CSSProperties {
  const angle = (i / pieces.length) * 2 * Math.PI;
  const reach = 5 + ((i * 37) % 50) / 10;
  return {
    "--us-dx": `${(Math.cos(angle) * reach).toFixed(2)}rem`,
    "--us-dy": `${(Math.sin(angle) * reach - 3).toFixed(2)}rem`,
    "--us-turn": `${(i * 67) % 360}deg`,
  } as CSSProperties;
}
