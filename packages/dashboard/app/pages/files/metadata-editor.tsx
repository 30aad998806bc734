import type { FileObject } from "@upstow/contract";
import { useEffect, useState } from "react";
import { callApi, JsonText } from "../../api.ts";
import { useLoad } from "../../load.ts";
import { Failure } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { toVisibleJson } from "../../parts/visible-json.ts";
import { useWorkspace } from "../../workspace.ts";

export function MetadataEditor({ fileKey }: { fileKey: string }) {
  const { api, mayChange } = useWorkspace();
  const path = `${api}/files/${encodeURIComponent(fileKey)}`;
  const loaded = useLoad<{ file: FileObject }>(path);
  const [text, setText] = useState("");
  const [isSaved, setSaved] = useState(false);
  const { error, isBusy, run } = useAction();
  useEffect(() => {
    if (loaded.data !== null) setText(toVisibleJson(loaded.data.file.metadata, 2));
  }, [loaded.data]);
  const save = () =>
    run(async () => {
      setSaved(false);
      checkJson(text);
      await callApi("PATCH", path, new JsonText(`{"metadata":${text}}`));
      setSaved(true);
    });
  if (loaded.error !== null) return <Failure error={loaded.error} retry={loaded.reload} />;
  return (
    <div className="stack">
      <label>
        Metadata (JSON)
        <textarea
          rows={Math.min(14, Math.max(3, text.split("\n").length))}
          spellCheck={false}
          readOnly={!mayChange || loaded.data === null}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setSaved(false);
          }}
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

export function checkJson(text: string): void {
  try {
    JSON.parse(text);
  } catch {
    throw new Error("This is not valid JSON. Check quotes and commas.");
  }
}
