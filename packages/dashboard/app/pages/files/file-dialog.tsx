import { useEffect } from "react";
import { formatBytes, formatMany, formatTime } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import { Failure } from "../../parts/states.tsx";
import { useWorkspace } from "../../workspace.ts";
import { FileAccess } from "./file-access.tsx";
import { FilePreview } from "./file-preview.tsx";
import { FileVariants } from "./file-variants.tsx";
import { type FoundFile, routeOf } from "./found-file.ts";
import { MetadataEditor } from "./metadata-editor.tsx";

interface FileDialogProps {
  listed: FoundFile;
  /** The list may be out of date. */
  onLoaded: (file: FoundFile) => void;
  onClose: () => void;
  onDelete: () => void;
}

export function FileDialog({ listed, onLoaded, ...props }: FileDialogProps) {
  const { api, mayChange, environment } = useWorkspace();
  const path = `${api}/search/file?key=${encodeURIComponent(listed.key)}`;
  const loaded = useLoad<{ file: FoundFile; link: string | null }>(path);
  const file = loaded.data?.file ?? listed;
  // The one before may just have been revoked.
  const link = loaded.isLoading ? null : (loaded.data?.link ?? null);
  const url = link ?? file.contentUrl;
  useEffect(() => {
    if (loaded.data !== null) onLoaded(loaded.data.file);
  }, [loaded.data, onLoaded]);
  return (
    <Dialog title={file.name} wide onClose={props.onClose}>
      {url !== null && <FilePreview key={url} file={file} url={url} />}
      {url === null && loaded.error !== null && <Failure error={loaded.error} retry={loaded.reload} />}
      <Facts file={file} />
      <FileAccess file={file} onChanged={loaded.reload} />
      <MetadataEditor fileKey={file.key} />
      {file.thumbnailUrl !== null && environment === "live" && <FileVariants fileKey={file.key} />}
      <footer>
        {file.access === "public" && <CopyButton text={file.url} label="Copy URL" />}
        {link !== null && <CopyButton text={link} label="Copy temporary link" />}
        {file.status === "UPLOADED" && url !== null && (
          <a className="button" href={link ?? file.url} target="_blank" rel="noopener noreferrer">
            Open
          </a>
        )}
        {mayChange && (
          <button type="button" className="danger" onClick={props.onDelete}>
            Delete
          </button>
        )}
      </footer>
    </Dialog>
  );
}

function Facts({ file }: { file: FoundFile }) {
  return (
    <dl>
      <dt>Status</dt>
      <dd>
        <span className={`tag ${file.status.toLowerCase()}`}>{file.status.toLowerCase()}</span>
      </dd>
      <dt>Key</dt>
      <dd>
        <SafeText text={file.key} />
      </dd>
      <dt>Route</dt>
      <dd>
        <SafeText text={routeOf(file)} />
      </dd>
      <dt>Type</dt>
      <dd>
        <SafeText text={file.type} />
      </dd>
      <dt>Size</dt>
      <dd>
        {formatBytes(file.size)} ({formatMany(file.size, "byte")})
      </dd>
      <dt>Created</dt>
      <dd>{formatTime(file.createdAt)}</dd>
      {file.sha256 !== null && (
        <>
          <dt>SHA-256</dt>
          <dd className="mono">{file.sha256}</dd>
        </>
      )}
    </dl>
  );
}
