import { useId, useRef, useState } from "react";
import { onEnter } from "./on-enter.ts";

export interface LinkWords {
  address: string;
  fetch: string;
  failed: string;
}

interface LinkFormProps {
  words: LinkWords;
  fetchLink: ((url: string) => Promise<File>) | undefined;
  onFile(file: File): void;
}

/** Fetches a file from a URL. Not a `<form>`, because it may be inside one. */
export function LinkForm({ words, fetchLink = fetchFile, onFile }: LinkFormProps) {
  const id = useId();
  const [url, setUrl] = useState("");
  const [state, setState] = useState<"idle" | "busy" | "failed">("idle");
  const field = useRef<HTMLInputElement>(null);
  const submit = async () => {
    if (state === "busy" || !field.current?.reportValidity()) return;
    setState("busy");
    try {
      onFile(await fetchLink(url));
      setUrl("");
      setState("idle");
    } catch {
      setState("failed");
    }
  };
  return (
    <div className="us-link-form">
      <label htmlFor={id}>{words.address}</label>
      <div className="us-link-line">
        <input
          id={id}
          ref={field}
          // Detached from any form around it, which may be submitted without a URL here.
          form=""
          className="us-link-input"
          type="url"
          required
          dir="ltr"
          placeholder="https://"
          value={url}
          aria-describedby={`${id}-error`}
          onChange={({ currentTarget }) => setUrl(currentTarget.value)}
          onKeyDown={onEnter(() => void submit())}
        />
        <button type="button" className="us-button" disabled={state === "busy"} onClick={() => void submit()}>
          {words.fetch}
        </button>
      </div>
      <p id={`${id}-error`} className="us-meta us-error" role="alert">
        {state === "failed" ? words.failed : ""}
      </p>
    </div>
  );
}

async function fetchFile(url: string): Promise<File> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status}`);
  const blob = await response.blob();
  const name = new URL(url, document.baseURI).pathname.split("/").pop() || "download";
  return new File([blob], decode(name), { type: blob.type });
}

/** URLs may contain a literal percent sign. */
function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
