import { Icon } from "@upstow/kit/icon";
import { circleAlertIcon, circleCheckIcon, uploadIcon } from "@upstow/kit/icons";
import { type UploadState, UpstowError } from "@upstow/sdk/client";
import { useEffect, useState } from "react";
import { formatBytes } from "../../format.ts";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";
import { useWorkspace } from "../../workspace.ts";
import { getUploader, useUploads } from "./uploads.ts";

const mostRows = 100;
/** A whole folder may be many thousands: then what is done is left out. */
const isWorthARow = (count: number) => (upload: UploadState) => count <= mostRows || upload.status !== "done";

/** Uploads in progress, and those an earlier page left unfinished. */
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
      {uploads.length > mostRows && <p className="dim">Only some unfinished uploads are shown.</p>}
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
    <li className={status === "failed" ? "upload-failed" : undefined}>
      <UploadIcon status={status} />
      <span className="grow">
        <span className="name">
          <SafeText text={file.name} />
        </span>
        {!["done", "failed", "cancelled"].includes(status) && (
          <progress aria-label={`Progress of ${name}`} value={upload.progress} max={1} />
        )}
        <small>
          <span className={status === "failed" ? "bad-text" : undefined}>{labels[status] ?? status}</span>
          {status === "uploading" && ` · ${progressOf(upload)}`}
          {upload.isResumed && " · resumed"}
          {error !== null && status === "failed" && ` · ${reasonOf(error, file.size)}`}
        </small>
      </span>
      <span className="line">
        {["queued", "preparing", "uploading"].includes(status) && act("Pause", () => uploader.pause(id))}
        {status === "paused" && act("Resume", () => uploader.resume(id))}
        {(status === "cancelled" || (status === "failed" && mayPass(error))) &&
          act("Retry", () => uploader.retry(id))}
        {!["completing", "done", "failed", "cancelled"].includes(status) &&
          act("Cancel", () => void uploader.cancel(id))}
      </span>
    </li>
  );
}

const labels: Record<string, string> = {
  queued: "Queued",
  preparing: "Preparing",
  waiting: "Waiting for the rate limit",
  uploading: "Uploading",
  completing: "Finishing",
  paused: "Paused",
  done: "Done",
  failed: "Failed",
  cancelled: "Cancelled",
};

function UploadIcon({ status }: Pick<UploadState, "status">) {
  if (status === "done") return <Icon of={circleCheckIcon} className="icon good-text" />;
  if (status === "failed") return <Icon of={circleAlertIcon} className="icon bad-text" />;
  return <Icon of={uploadIcon} className="icon dim" />;
}

/** A type or size that the route rejects stays rejected. */
function mayPass(error: Error | null): boolean {
  const code = error instanceof UpstowError ? error.code : "";
  return !["INVALID_FILE_TYPE", "VALIDATION_ERROR", "TIER_LIMIT_EXCEEDED", "CONTENT_MISMATCH"].includes(code);
}

function reasonOf(error: Error, size: number): string {
  return size === 0 ? "The file is empty." : showHidden(error.message);
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
      Unfinished: <SafeText text={names.slice(0, 5).join(", ")} />
      {names.length > 5 && " and others"}. Select the same {names.length === 1 ? "file" : "files"} again to
      resume.
    </p>
  );
}
