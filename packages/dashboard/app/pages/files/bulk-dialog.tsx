import type { Access } from "@upstow/contract";
import { useState } from "react";
import { callApi, JsonText, messageOf } from "../../api.ts";
import { formatMany } from "../../format.ts";
import { AccessChoice } from "../../parts/access-choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Form } from "../../parts/form.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import { useWorkspace } from "../../workspace.ts";
import { ExpiryChoice, startingExpiry, toChange } from "./expiry-choice.tsx";
import type { FoundFile } from "./found-file.ts";
import { checkJson } from "./metadata-editor.tsx";

const titles = { access: "Change access", expiry: "Change expiry", metadata: "Replace metadata" };
export type BulkTask = "download" | keyof typeof titles;

interface BulkDialogProps {
  task: Exclude<BulkTask, "download">;
  files: FoundFile[];
  onDone: () => void;
  onClose: () => void;
}

interface Failure {
  file: FoundFile;
  reason: string;
}

const atOnce = 4;

/** Changes files one by one, a few at a time, and says which of them could not be changed. */
export function BulkDialog({ task, files, onDone, onClose }: BulkDialogProps) {
  const { api } = useWorkspace();
  const [access, setAccess] = useState<Access>("private");
  const [expiry, setExpiry] = useState(startingExpiry);
  const [text, setText] = useState("{}");
  const [changed, setChanged] = useState(0);
  const [failures, setFailures] = useState<Failure[]>([]);
  const readBody = () => {
    if (task === "access") return { access };
    if (task === "expiry") return toChange(expiry);
    checkJson(text);
    return new JsonText(`{"metadata":${text}}`);
  };
  const submit = async () => {
    const body = readBody();
    const waiting = [...files];
    const failed: Failure[] = [];
    setChanged(0);
    const work = async () => {
      for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
        try {
          await callApi("PATCH", `${api}/files/${encodeURIComponent(file.key)}`, body);
          setChanged((before) => before + 1);
        } catch (problem) {
          failed.push({ file, reason: messageOf(problem) });
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    setFailures(failed);
    onDone();
    if (failed.length === 0) onClose();
  };
  return (
    <Dialog title={titles[task]} onClose={onClose}>
      <Form
        submit={`Change ${formatMany(files.length, "file")}`}
        busy={`${changed} of ${files.length} changed`}
        onSubmit={submit}
      >
        {task === "access" && (
          <AccessChoice value={access} note="Takes effect on the next read." onChange={setAccess} />
        )}
        {task === "expiry" && <ExpiryChoice value={expiry} onChange={setExpiry} />}
        {task === "metadata" && (
          <label>
            Metadata (JSON)
            <textarea
              rows={6}
              spellCheck={false}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
            <small>Replaces the metadata of every selected file.</small>
          </label>
        )}
        {failures.length > 0 && (
          <div className="notice bad" role="alert">
            <p>{formatMany(failures.length, "file")} could not be changed.</p>
            <ul>
              {failures.slice(0, 10).map(({ file, reason }) => (
                <li key={file.id}>
                  <SafeText text={file.name} />: <SafeText text={reason} />
                </li>
              ))}
            </ul>
          </div>
        )}
      </Form>
    </Dialog>
  );
}
