import type { FileListItem, FileObject } from "@upstow/contract";
import { useEffect, useState } from "react";
import { callApi } from "../../api.ts";
import { formatBytes, formatTime } from "../../format.ts";
import { useLoad } from "../../load.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import { Failure } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { useWorkspace } from "../../workspace.ts";

export function FileDialog(props: { file: FileListItem; onClose: () => void; onDelete: () => void }) {
  const { file } = props;
  const { mayChange } = useWorkspace();
  return (
    <Dialog title="File" wide onClose={props.onClose}>
      <h3 className="name">
        <SafeText text={file.name} />
      </h3>
      {file.status === "UPLOADED" && file.type.startsWith("image/") && (
        <img className="preview" src={file.url} alt="" loading="lazy" />
      )}
      <dl>
        <dt>Key</dt>
        <dd>
          <SafeText text={file.key} />
        </dd>
        <dt>Type</dt>
        <dd>
          <SafeText text={file.type} />
        </dd>
        <dt>Size</dt>
        <dd>{formatBytes(file.size)}</dd>
        <dt>Created</dt>
        <dd>{formatTime(file.createdAt)}</dd>
        {file.sha256 !== null && (
          <>
            <dt>SHA-256</dt>
            <dd className="mono">{file.sha256}</dd>
          </>
        )}
      </dl>
      <MetadataEditor file={file} />
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

function MetadataEditor({ file }: { file: FileListItem }) {
  const { api, mayChange } = useWorkspace();
  const path = `${api}/files/${encodeURIComponent(file.key)}`;
  const loaded = useLoad<{ file: FileObject }>(path);
  const [text, setText] = useState("");
  const [isSaved, setSaved] = useState(false);
  const { error, isBusy, run } = useAction();
  useEffect(() => {
    if (loaded.data !== null) setText(escapeHidden(JSON.stringify(loaded.data.file.metadata, null, 2)));
  }, [loaded.data]);
  const save = () =>
    run(async () => {
      setSaved(false);
      await callApi("PATCH", path, { metadata: parse(text) });
      setSaved(true);
    });
  if (loaded.error !== null) return <Failure error={loaded.error} retry={loaded.reload} />;
  return (
    <div className="stack">
      <label>
        Metadata (JSON)
        <textarea
          rows={5}
          spellCheck={false}
          readOnly={!mayChange || loaded.data === null}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {error !== null && <Failure error={error} />}
      {mayChange && (
        <p className="line">
          <button type="button" disabled={isBusy || loaded.data === null} onClick={() => void save()}>
            Save metadata
          </button>
          <span role="status">{isSaved ? "Saved" : ""}</span>
        </p>
      )}
    </div>
  );
}

/** As JSON itself writes them, so that what is shown can be edited and saved without a change. */
function escapeHidden(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("This is not valid JSON. Check quotes and commas.");
  }
}
