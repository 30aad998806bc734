import type { Router } from "@upstow/contract";
import { useEffect, useRef, useState } from "react";
import { showHidden } from "../../parts/safe-text.tsx";
import { useWorkspace } from "../../workspace.ts";
import { getUploader } from "./uploads.ts";

/** Files go to a route by the button, or by letting them fall anywhere on the page. */
export function UploadButton({ routes }: { routes: Router[] }) {
  const { api, environment } = useWorkspace();
  const [slug, setSlug] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const open = routes.filter((route) => route.environment === "all" || route.environment === environment);
  const route = open.find((candidate) => candidate.slug === slug) ?? open.find(isDefault) ?? open[0];
  const add = (files: FileList | null) => {
    if (route !== undefined && files !== null && files.length > 0)
      getUploader(api).add(route.slug, [...files]);
  };
  const isOver = useDrop(add);
  if (route === undefined) return null;
  return (
    <span className="line">
      <label className="inline">
        <span className="visually-hidden">Upload to route</span>
        <select
          aria-label="Upload to route"
          value={route.slug}
          onChange={(event) => setSlug(event.target.value)}
        >
          {open.map((candidate) => (
            <option key={candidate.id} value={candidate.slug}>
              {showHidden(candidate.slug)}
            </option>
          ))}
        </select>
      </label>
      <button type="button" className="primary" onClick={() => input.current?.click()}>
        Upload
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        accept={route.allowedTypes.join(",")}
        onChange={(event) => {
          add(event.target.files);
          event.target.value = "";
        }}
      />
      {isOver && <div className="drop">Let go to upload to “{showHidden(route.slug)}”</div>}
    </span>
  );
}

const isDefault = ({ slug }: Router) => slug === "default";

function useDrop(onFiles: (files: FileList | null) => void): boolean {
  const [isOver, setOver] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
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
      take.current(event.dataTransfer.files);
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
