import type { UploadState } from "@upstow/sdk/client";
import { useEffect, useState } from "react";
import { formatBytes } from "../../format.ts";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";
import { useWorkspace } from "../../workspace.ts";
import { getUploader, useUploads } from "./uploads.ts";

const mostRows = 100;
/** A whole folder may be many thousands: then what is done is left out. */
const isWorthARow = (count: number) => (upload: UploadState) => count <= mostRows || upload.status !== "done";

/** What is on its way, and what an earlier page left unfinished. */
export function UploadList({ onUploaded }: { onUploaded: () => void }) {
  const { api } = useWorkspace();
  const { uploads } = useUploads(api);
  const uploader = getUploader(api);
  const doneCount = uploads.filter(({ status }) => status === "done").length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each upload that ends is to be seen in the list
  useEffect(() => {
    if (doneCount > 0) onUploaded();
  }, [doneCount]);
  if (uploads.length === 0) return <Unfinished api={api} />;
  const isOver = uploads.every(({ status }) => ["done", "failed", "cancelled"].includes(status));
  return (
    <section className="uploads" aria-label="Uploads">
      <header className="line">
        <strong role="status">
          {isOver
            ? `${doneCount} of ${uploads.length} uploaded`
            : `Uploading, ${doneCount} of ${uploads.length} done`}
        </strong>
        <button
          type="button"
          className="small"
          disabled={doneCount === 0 && !isOver}
          onClick={() => uploader.clear()}
        >
          Clear
        </button>
      </header>
      <ul className="rows">
        {uploads
          .filter(isWorthARow(uploads.length))
          .slice(0, mostRows)
          .map((upload) => (
            <UploadRow key={upload.id} upload={upload} api={api} />
          ))}
      </ul>
      {uploads.length > mostRows && (
        <p className="dim">Of so many at once, only some that are not done yet are shown.</p>
      )}
    </section>
  );
}

function UploadRow({ upload, api }: { upload: UploadState; api: string }) {
  const uploader = getUploader(api);
  const { id, status, file, error } = upload;
  const name = showHidden(file.name);
  const act = (label: string, action: () => void) => (
    <button type="button" className="small" aria-label={`${label} ${name}`} onClick={action}>
      {label}
    </button>
  );
  return (
    <li>
      <span className="grow">
        <span className="name">
          <SafeText text={file.name} />
        </span>
        <progress aria-label={`Progress of ${name}`} value={upload.progress} max={1} />
        <small>
          {status}
          {status === "uploading" && ` · ${progressOf(upload)}`}
          {upload.isResumed && " · resumed"}
          {error !== null && status === "failed" && ` · ${showHidden(error.message)}`}
        </small>
      </span>
      <span className="line">
        {["queued", "preparing", "uploading"].includes(status) && act("Pause", () => uploader.pause(id))}
        {status === "paused" && act("Resume", () => uploader.resume(id))}
        {["failed", "cancelled"].includes(status) && act("Retry", () => uploader.retry(id))}
        {!["completing", "done", "failed", "cancelled"].includes(status) &&
          act("Cancel", () => void uploader.cancel(id))}
      </span>
    </li>
  );
}

function progressOf({ sentBytes, totalBytes, bytesPerSec, secondsLeft }: UploadState): string {
  const speed = bytesPerSec === 0 ? "" : ` · ${formatBytes(bytesPerSec)}/s`;
  const rest = secondsLeft === null ? "" : ` · ${secondsLeft} s left`;
  return `${formatBytes(sentBytes)} of ${formatBytes(totalBytes)}${speed}${rest}`;
}

function Unfinished({ api }: { api: string }) {
  const [names, setNames] = useState<string[]>([]);
  useEffect(() => {
    void getUploader(api)
      .listResumable()
      .then((saved) => {
        // Kept for all projects of this browser: the fingerprint begins with where each belongs.
        const own = saved.filter(({ fingerprint }) => fingerprint.includes(`/dashboard/api${api}/upload `));
        setNames(own.map(({ name }) => name));
      });
  }, [api]);
  if (names.length === 0) return null;
  return (
    <p className="notice">
      Not finished: <SafeText text={names.slice(0, 5).join(", ")} />
      {names.length > 5 && " and others"}. Choose the same {names.length === 1 ? "file" : "files"} again, and
      the upload goes on where it stopped.
    </p>
  );
}
