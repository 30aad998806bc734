import { formatBytes, formatMany, formatTime } from "../../format.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import { useWorkspace } from "../../workspace.ts";
import { FilePreview } from "./file-preview.tsx";
import { FileVariants } from "./file-variants.tsx";
import { type FoundFile, routeOf } from "./found-file.ts";
import { MetadataEditor } from "./metadata-editor.tsx";

export function FileDialog(props: { file: FoundFile; onClose: () => void; onDelete: () => void }) {
  const { file } = props;
  const { mayChange, environment } = useWorkspace();
  return (
    <Dialog title={file.name} wide onClose={props.onClose}>
      <FilePreview file={file} />
      <Facts file={file} />
      <MetadataEditor fileKey={file.key} />
      {file.thumbnailUrl !== null && environment === "live" && <FileVariants fileKey={file.key} />}
      <footer>
        <CopyButton text={file.url} label="Copy URL" />
        {file.status === "UPLOADED" && (
          <a className="button" href={file.url} target="_blank" rel="noopener noreferrer">
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
