"use client";

import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { type Upload, type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { ChooseButton } from "../parts/choose-button.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { readClipboardFiles } from "../parts/clipboard-files.ts";
import { CurrentFile } from "../parts/current-file.tsx";
import { CameraIcon, ClipboardIcon, DownIcon, FolderIcon } from "../parts/icons.tsx";
import { Root } from "../parts/root.tsx";
import { TotalTrack } from "../parts/total-track.tsx";

export type ButtonSplitProps = UploadProps & {
  children?: ReactNode;
  /** The words of the menu. */
  menu?: { more?: string; folder?: string; camera?: string; clipboard?: string };
  classNames?: ClassNames<"root" | "button" | "menu" | "item">;
};

/** A button with a menu of other ways: a whole folder, the camera, the clipboard. */
export function ButtonSplit({ children, menu = {}, classNames, ...props }: ButtonSplitProps) {
  const upload = useGivenUpload(props);
  const [isOpen, setIsOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const toggle = useRef<HTMLButtonElement>(null);
  const menuId = useId();
  const ways = listWays(upload, menu);

  useEffect(() => {
    if (!isOpen) return;
    root.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    const closeOutside = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setIsOpen(false);
    };
    document.addEventListener("pointerdown", closeOutside);
    return () => document.removeEventListener("pointerdown", closeOutside);
  }, [isOpen]);

  const close = () => {
    setIsOpen(false);
    toggle.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const items = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=menuitem]")];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const places: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    const place = places[event.key];
    if (event.key === "Escape") close();
    if (event.key === "Tab") setIsOpen(false);
    if (place === undefined) return;
    event.preventDefault();
    items.at(place % items.length)?.focus();
  };

  return (
    <Root upload={upload} className={cx("us-split", classNames?.root)}>
      <div ref={root} className="us-split-pair">
        <ChooseButton upload={upload} className={classNames?.button}>
          {children}
        </ChooseButton>
        <button
          ref={toggle}
          type="button"
          className="us-button us-split-toggle"
          aria-label={menu.more ?? "More ways to add files"}
          aria-haspopup="menu"
          aria-expanded={isOpen}
          aria-controls={isOpen ? menuId : undefined}
          disabled={upload.isDisabled}
          onClick={() => setIsOpen(!isOpen)}
          onKeyDown={(event) => event.key === "ArrowDown" && setIsOpen(true)}
        >
          <DownIcon />
        </button>
        {isOpen && (
          <div
            id={menuId}
            role="menu"
            tabIndex={-1}
            className={cx("us-split-menu", classNames?.menu)}
            onKeyDown={onKeyDown}
          >
            {ways.map(({ text, icon, act }) => (
              <button
                key={text}
                type="button"
                role="menuitem"
                tabIndex={-1}
                className={cx("us-split-item", classNames?.item)}
                onClick={() => {
                  close();
                  act();
                }}
              >
                {icon}
                {text}
              </button>
            ))}
          </div>
        )}
      </div>
      {upload.status === "uploading" && <TotalTrack upload={upload} />}
      <CurrentFile upload={upload} />
    </Root>
  );
}

function listWays(upload: Upload, words: NonNullable<ButtonSplitProps["menu"]>) {
  return [
    { text: words.folder ?? "A folder", icon: <FolderIcon />, act: () => upload.open({ isFolder: true }) },
    {
      text: words.camera ?? "Take a photo",
      icon: <CameraIcon />,
      act: () => upload.open({ accept: "image/*", capture: "environment" }),
    },
    {
      text: words.clipboard ?? "From the clipboard",
      icon: <ClipboardIcon />,
      // The user declined the browser's permission prompt, so there is nothing to report.
      act: () => void readClipboardFiles().then(upload.add, () => {}),
    },
  ];
}
