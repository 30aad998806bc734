import { useEffect, useState } from "react";
import { unreachable } from "../../api.ts";
import { formatBytes } from "../../format.ts";
import { showHidden } from "../../parts/safe-text.tsx";
import { Failure } from "../../parts/states.tsx";
import type { FoundFile } from "./found-file.ts";

const textBytes = 64 * 1024;
const textTypes = /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|yaml|x-yaml|javascript|toml|x-sh)\b)/;

/** In pixels, as shown upright. */
export interface Measures {
  width: number;
  height: number;
}

interface FilePreviewProps {
  file: FoundFile;
  url: string;
  onMeasured: (measures: Measures) => void;
}

/** Shows what browsers show without running it. Text is fetched and written out by us, whatever it would be. */
export function FilePreview({ file, url, onMeasured }: FilePreviewProps) {
  const [isBroken, setBroken] = useState(false);
  const type = file.type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const fail = () => setBroken(true);
  if (file.status !== "UPLOADED") return null;
  if (isBroken) return <p className="dim">This file can't be previewed in the browser.</p>;
  if (type.startsWith("image/"))
    return (
      <img
        className="preview"
        src={url}
        alt=""
        onError={fail}
        onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
          onMeasured({ width, height })
        }
      />
    );
  if (type.startsWith("video/"))
    // biome-ignore lint/a11y/useMediaCaption: the file is all there is
    return <video className="preview" src={url} controls preload="metadata" onError={fail} />;
  if (type.startsWith("audio/"))
    // biome-ignore lint/a11y/useMediaCaption: the file is all there is
    return <audio className="preview" src={url} controls preload="metadata" onError={fail} />;
  // Not sandboxed, because browsers' PDF viewers don't work in a sandbox; the service always sends it as a PDF.
  if (type === "application/pdf")
    return <iframe className="preview pdf" src={url} title="Preview" referrerPolicy="no-referrer" />;
  if (textTypes.test(type)) return <TextPreview file={file} url={url} />;
  return null;
}

function TextPreview({ file, url }: { file: FoundFile; url: string }) {
  const [text, setText] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [tries, setTries] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another try reads it again
  useEffect(() => {
    setError(null);
    const stop = new AbortController();
    readStart(url, stop.signal).then(setText, (problem) => {
      if (!stop.signal.aborted) setError(problem);
    });
    return () => stop.abort();
  }, [url, tries]);
  if (error !== null) return <Failure error={error} retry={() => setTries(tries + 1)} />;
  if (text === null) return null;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus the arrow keys could not scroll it */}
      <section className="code preview text" aria-label="Preview" tabIndex={0}>
        {text.split(/\r?\n/).map(showTabs).join("\n")}
      </section>
      {file.size > textBytes && <p className="dim">Only the first {formatBytes(textBytes)} are shown.</p>}
    </>
  );
}

async function readStart(url: string, signal: AbortSignal): Promise<string> {
  const headers = { range: `bytes=0-${textBytes - 1}` };
  const options = { headers, signal, credentials: "omit", referrerPolicy: "no-referrer" } as const;
  const response = await fetch(url, options).catch(() => {
    throw unreachable();
  });
  if (!response.ok) throw new Error(`The file could not be read: status ${response.status}.`);
  return (await response.text()).slice(0, textBytes);
}

function showTabs(line: string): string {
  return line.split("\t").map(showHidden).join("\t");
}
