import type { Router } from "@upstow/contract";
import { Icon } from "@upstow/kit/icon";
import { cloudUploadIcon, folderPlusIcon, uploadIcon } from "@upstow/kit/icons";
import { type ComponentProps, useEffect, useRef, useState } from "react";
import { Choice } from "../../parts/choice.tsx";
import { showHidden } from "../../parts/safe-text.tsx";
import { Link } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";
import { type Chosen, readChoice, readDrop } from "./chosen-files.ts";
import { getUploader } from "./uploads.ts";

/** Files and folders go to a route by the buttons, or dropped anywhere on the page. Null where routes are not known. */
export function UploadButton({ routes, folder }: { routes: Router[] | null; folder: string }) {
  const { api, environment, urlOf } = useWorkspace();
  const [slug, setSlug] = useState(folder);
  const [problem, setProblem] = useState("");
  const fileInput = useRef<HTMLInputElement>(null);
  const folderInput = useRef<HTMLInputElement>(null);
  const open = (routes ?? []).filter(
    (route) => route.environment === "all" || route.environment === environment,
  );
  const route = open.find((candidate) => candidate.slug === slug) ?? open.find(isDefault) ?? open[0];
  const add = (chosen: Chosen[]) => {
    setProblem("");
    if (route === undefined) return;
    for (const [folder, some] of Map.groupBy(chosen, (one) => one.folder)) {
      const files = some.map(({ file }) => file);
      getUploader(api).add(route.slug, files, { input: { folder } });
    }
  };
  const drop = (data: DataTransfer) =>
    void readDrop(data).then(add, () => setProblem("A folder could not be read. Drop its files instead."));
  const isOver = useDrop(drop);
  if (routes === null) return null;
  if (route === undefined) {
    return <Link to={urlOf("routes")}>Create a file route to upload here</Link>;
  }
  return (
    <span className="line">
      <Choice
        isBare
        label="Upload to route"
        options={open.map((candidate) => [candidate.slug, `Route: ${candidate.slug}`] as const)}
        value={route.slug}
        onChange={setSlug}
      />
      <button type="button" className="aside" onClick={() => folderInput.current?.click()}>
        <Icon of={folderPlusIcon} /> Upload folder
      </button>
      <button type="button" className="primary" onClick={() => fileInput.current?.click()}>
        <Icon of={uploadIcon} /> Upload
      </button>
      <ChosenInput
        ref={fileInput}
        aria-label="Files to upload"
        accept={route.allowedTypes.join(",")}
        onChosen={add}
      />
      <ChosenInput ref={folderInput} aria-label="Folder to upload" isFolder onChosen={add} />
      {problem !== "" && <span role="alert">{problem}</span>}
      {isOver && (
        <div className="drop">
          <Icon of={cloudUploadIcon} />
          Drop to upload to “{showHidden(route.slug)}”
        </div>
      )}
    </span>
  );
}

const isDefault = ({ slug }: Router) => slug === "default";

interface ChosenInputProps extends ComponentProps<"input"> {
  isFolder?: boolean;
  onChosen: (chosen: Chosen[]) => void;
}

function ChosenInput({ isFolder = false, onChosen, ...input }: ChosenInputProps) {
  return (
    <input
      {...input}
      {...(isFolder ? { webkitdirectory: "" } : {})}
      type="file"
      multiple
      hidden
      onChange={(event) => {
        onChosen(readChoice(event.target.files ?? []));
        event.target.value = "";
      }}
    />
  );
}

function useDrop(onDrop: (data: DataTransfer) => void): boolean {
  const [isOver, setOver] = useState(false);
  const take = useRef(onDrop);
  take.current = onDrop;
  useEffect(() => {
    // Without an end to the default the browser would leave the page and open the file.
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(false);
      take.current(event.dataTransfer);
    };
    const listeners = { dragenter: over, dragover: over, dragleave: leave, drop };
    const each = Object.entries(listeners) as [keyof typeof listeners, (event: DragEvent) => void][];
    for (const [type, listener] of each) window.addEventListener(type, listener);
    return () => {
      for (const [type, listener] of each) window.removeEventListener(type, listener);
    };
  }, []);
  return isOver;
}
