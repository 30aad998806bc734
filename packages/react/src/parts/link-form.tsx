import { useId, useState } from "react";

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

/** Fetches a file from an address and hands it out. */
export function LinkForm({ words, fetchLink = fetchFile, onFile }: LinkFormProps) {
  const id = useId();
  const [url, setUrl] = useState("");
  const [state, setState] = useState<"idle" | "busy" | "failed">("idle");
  const submit = async (event: { preventDefault(): void }) => {
    event.preventDefault();
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
    <form className="us-link-form" onSubmit={(event) => void submit(event)}>
      <label htmlFor={id}>{words.address}</label>
      <div className="us-link-line">
        <input
          id={id}
          className="us-link-input"
          type="url"
          required
          dir="ltr"
          placeholder="https://"
          value={url}
          aria-describedby={`${id}-error`}
          onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        />
        <button type="submit" className="us-button" disabled={state === "busy"}>
          {words.fetch}
        </button>
      </div>
      <p id={`${id}-error`} className="us-meta us-error" role="alert">
        {state === "failed" ? words.failed : ""}
      </p>
    </form>
  );
}

async function fetchFile(url: string): Promise<File> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status}`);
  const blob = await response.blob();
  const name = decodeURIComponent(new URL(url, document.baseURI).pathname.split("/").pop() || "download");
  return new File([blob], name, { type: blob.type });
}
