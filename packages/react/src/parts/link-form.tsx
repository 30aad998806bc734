import { useId, useRef, useState } from "react";
import { UrlField } from "./url-field.tsx";

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

/** Fetches a file from a URL. */
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
      <UrlField
        id={id}
        prefix="us-link"
        field={field}
        label={words.address}
        url={url}
        onChange={setUrl}
        onSubmit={() => void submit()}
        describedBy={`${id}-error`}
        button={{ label: words.fetch, isDisabled: state === "busy", onPress: () => void submit() }}
      />
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
