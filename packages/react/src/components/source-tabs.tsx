"use client";

import { type KeyboardEvent, type ReactNode, useId, useState } from "react";
import { useLabels } from "../core/provider.tsx";
import { type UploadProps, useGivenUpload } from "../core/use-upload.ts";
import { Camera } from "../parts/camera.tsx";
import { ChooseButton } from "../parts/choose-button.tsx";
import { type ClassNames, cx } from "../parts/class-names.ts";
import { readClipboardFiles } from "../parts/clipboard-files.ts";
import { FileRows } from "../parts/file-rows.tsx";
import { CameraIcon, ClipboardIcon, FolderIcon, LinkIcon } from "../parts/icons.tsx";
import { LinkForm } from "../parts/link-form.tsx";
import { Root } from "../parts/root.tsx";
import { UnfinishedRows } from "../parts/unfinished-rows.tsx";

const sources = ["device", "camera", "clipboard", "link"] as const;
export type Source = (typeof sources)[number];

export type SourceTabsProps = UploadProps & {
  /** Which tabs there are, in this order. */
  sources?: readonly Source[];
  /** Turns a link into a file. Default: the browser fetches it, if the other site allows that. */
  fetchLink?: (url: string) => Promise<File>;
  words?: Partial<typeof english>;
  classNames?: ClassNames<"root" | "tabs" | "tab" | "panel" | "list" | "item">;
};

const english = {
  device: "Device",
  camera: "Camera",
  clipboard: "Clipboard",
  link: "Link",
  sources: "Source",
  takePhoto: "Take a photo",
  noCamera: "No camera is available.",
  paste: "Paste",
  pasteHint: "Or press Ctrl+V here.",
  nothing: "There is no file on the clipboard.",
  address: "File URL",
  fetch: "Fetch",
  failed: "No file could be loaded from this URL.",
};

const icons: Record<Source, ReactNode> = {
  device: <FolderIcon />,
  camera: <CameraIcon />,
  clipboard: <ClipboardIcon />,
  link: <LinkIcon />,
};

/** Files from the device, the camera, the clipboard or a link. */
export function SourceTabs({
  sources: shown = sources,
  fetchLink,
  words,
  classNames,
  ...props
}: SourceTabsProps) {
  const upload = useGivenUpload(props);
  const labels = useLabels();
  const said = { ...english, ...words };
  const id = useId();
  const [source, setSource] = useState<Source>(shown[0] ?? "device");
  const [isEmpty, setIsEmpty] = useState(false);

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const isRtl = getComputedStyle(event.currentTarget).direction === "rtl";
    const at = shown.indexOf(source);
    const ahead = isRtl ? -1 : 1;
    const places: Record<string, number> = {
      ArrowRight: at + ahead,
      ArrowLeft: at - ahead,
      Home: 0,
      End: -1,
    };
    const place = places[event.key];
    if (place === undefined) return;
    event.preventDefault();
    const next = shown.at(place % shown.length) ?? source;
    setSource(next);
    document.getElementById(`${id}-${next}`)?.focus();
  };
  const paste = async () => {
    const files = await readClipboardFiles().catch(() => []);
    setIsEmpty(files.length === 0);
    if (files.length > 0) upload.add(files);
  };
  const panels: Record<Source, ReactNode> = {
    device: (
      <>
        <p className="us-title">{upload.drag === "reject" ? labels.notAccepted : labels.dropHere}</p>
        <ChooseButton upload={upload} />
        {upload.hint !== "" && <p className="us-hint">{upload.hint}</p>}
      </>
    ),
    camera: <Camera words={said} onPhoto={(file) => upload.add([file])} />,
    clipboard: (
      <>
        <button type="button" className="us-button" onClick={() => void paste()}>
          <ClipboardIcon />
          {said.paste}
        </button>
        <p className="us-hint">{isEmpty ? said.nothing : said.pasteHint}</p>
      </>
    ),
    link: <LinkForm words={said} fetchLink={fetchLink} onFile={(file) => upload.add([file])} />,
  };
  return (
    <Root upload={upload} className={cx("us-sources", classNames?.root)}>
      <div role="tablist" aria-label={said.sources} className={cx("us-sources-tabs", classNames?.tabs)}>
        {shown.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            className={cx("us-sources-tab", classNames?.tab)}
            aria-selected={name === source}
            aria-controls={`${id}-panel`}
            tabIndex={name === source ? 0 : -1}
            onClick={() => setSource(name)}
            onKeyDown={onKeyDown}
          >
            {icons[name]}
            {said[name]}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${source}`}
        className={cx("us-sources-panel", classNames?.panel)}
      >
        {panels[source]}
      </div>
      <UnfinishedRows upload={upload} classNames={classNames} />
      <FileRows items={upload.items} actions={upload.actions} classNames={classNames} />
    </Root>
  );
}
