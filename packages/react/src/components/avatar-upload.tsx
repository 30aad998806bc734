"use client";

import type { ImageFile } from "@upstow/sdk/images";
import { useCallback, useEffect, useState } from "react";
import { useLabels } from "../core/provider.tsx";
import { type UploadPropsWithout, useGivenUpload } from "../core/use-upload.ts";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { Cropper, type CropperWords } from "../parts/cropper.tsx";
import { CurrentFile } from "../parts/current-file.tsx";
import { describeImage } from "../parts/describe-image.ts";
import { CameraIcon } from "../parts/icons.tsx";
import { Root } from "../parts/root.tsx";

export type AvatarUploadProps = UploadPropsWithout<"autoStart" | "maxFileCount"> & {
  /** The URL of the picture that is in use now. */
  src?: string;
  /** Instead of `src`, the file as the API returns it: shown as a thumbnail, with its placeholder until it has loaded. */
  file?: ImageFile | null;
  alt?: string;
  /** Width and height of the uploaded picture in pixels. Default: 512. */
  sizePx?: number;
  words?: Partial<CropperWords & { change: string; unreadable: string }>;
  classNames?: ClassNames<"root" | "picture" | "button">;
};

const english = {
  change: "Change image",
  move: "Move the image with the arrow keys",
  zoom: "Zoom",
  save: "Use this",
  back: "Back",
  unreadable: "This image cannot be read. Choose another.",
};

/** In the style sheet, which may be another: then it is only less sharp. */
const shownPx = 128;

/** A round picture: choose, crop, upload. Only the part that is seen is sent. */
export function AvatarUpload({
  src,
  file = null,
  alt = "",
  sizePx = 512,
  words,
  classNames,
  ...props
}: AvatarUploadProps) {
  const upload = useGivenUpload(props, { autoStart: false, maxFileCount: 1, accept: ["image/*"] });
  const labels = useLabels();
  const said = { ...english, ...words };
  const { add, start, remove } = upload;
  const [item] = upload.items;
  const isCropping = item?.status === "staged";
  const id = item?.id ?? "";
  const [isUnreadable, setIsUnreadable] = useState(false);
  useEffect(() => {
    if (id !== "") setIsUnreadable(false);
  }, [id]);
  const refuse = useCallback(() => {
    remove(id);
    setIsUnreadable(true);
  }, [remove, id]);
  const chosen = item?.previewUrl ?? src;
  const thumbnail = file && describeImage(file, { width: shownPx, height: shownPx, fit: "cover" });
  const shown = chosen ? { src: chosen } : thumbnail;
  return (
    <Root upload={upload} className={cx("us-avatar", classNames?.root)}>
      {isCropping ? (
        <Cropper
          key={item.id}
          file={item.file}
          sizePx={sizePx}
          words={said}
          onBack={() => remove(id)}
          onUnreadable={refuse}
          onCropped={(cropped) => {
            add([cropped]);
            start();
          }}
        />
      ) : (
        <>
          <div className="us-avatar-frame">
            {item && item.status !== "done" && (
              <div {...upload.getProgressProps(item)} className="us-avatar-ring" />
            )}
            {shown !== null ? (
              <img {...shown} className={cx("us-avatar-picture", classNames?.picture)} alt={alt} />
            ) : (
              <span className={cx("us-avatar-picture", classNames?.picture)} aria-hidden="true">
                <CameraIcon />
              </span>
            )}
          </div>
          <button {...upload.getButtonProps()} className={cx("us-button", classNames?.button)} data-quiet="">
            {item?.status === "uploading" ? labels.status.uploading : said.change}
          </button>
          <CurrentFile upload={upload} />
          {isUnreadable && (
            <p className="us-meta us-error" role="alert">
              {said.unreadable}
            </p>
          )}
        </>
      )}
    </Root>
  );
}
