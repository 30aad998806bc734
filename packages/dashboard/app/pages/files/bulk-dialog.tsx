import type { Access } from "@upstow/contract";
import { useEffect, useRef, useState } from "react";
import { formatCount, formatMany } from "../../format.ts";
import { AccessChoice } from "../../parts/access-choice.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Form } from "../../parts/form.tsx";
import { useWorkspace } from "../../workspace.ts";
import { type Change, changeMany, type Selection } from "./change-many.ts";
import { ExpiryChoice, startingExpiry, toChange } from "./expiry-choice.tsx";
import { checkJson } from "./metadata-editor.tsx";

const titles = { access: "Change access", expiry: "Change expiry", metadata: "Replace metadata" };
export type BulkTask = "download" | keyof typeof titles;

interface BulkDialogProps {
  task: Exclude<BulkTask, "download">;
  selection: Selection;
  onDone: () => void;
  onClose: () => void;
}

/** Changes all files of a selection. Closing it stops after the current call. */
export function BulkDialog({ task, selection, onDone, onClose }: BulkDialogProps) {
  const { api } = useWorkspace();
  const [access, setAccess] = useState<Access>("private");
  const [expiry, setExpiry] = useState(startingExpiry);
  const [text, setText] = useState("{}");
  const [changed, setChanged] = useState(0);
  const [missing, setMissing] = useState(0);
  const stop = useRef<AbortController>(null);
  useEffect(() => {
    const controller = new AbortController();
    stop.current = controller;
    return () => controller.abort();
  }, []);
  const count = "ids" in selection ? selection.ids.length : selection.count;
  const readChange = (): Change => {
    if (task === "access") return { access };
    if (task === "expiry") return toChange(expiry);
    checkJson(text);
    return { metadataText: text };
  };
  const submit = async () => {
    const change = readChange();
    setChanged(0);
    setMissing(0);
    const signal = stop.current?.signal ?? AbortSignal.abort();
    try {
      const total = await changeMany(api, selection, change, { onProgress: setChanged, signal });
      if (total < count) setMissing(count - total);
      else onClose();
    } finally {
      onDone();
    }
  };
  return (
    <Dialog title={titles[task]} onClose={onClose}>
      <Form
        submit={`Change ${formatMany(count, "file")}`}
        busy={`${formatCount(changed)} of ${formatCount(count)} changed`}
        onSubmit={submit}
      >
        {task === "access" && (
          <AccessChoice value={access} note="Takes effect on the next read." onChange={setAccess} />
        )}
        {task === "expiry" && <ExpiryChoice isOfMany value={expiry} onChange={setExpiry} />}
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
        {missing > 0 && (
          <p className="notice" role="alert">
            {`${formatMany(changed, "file")} changed. ${formatMany(missing, "file")} not changed: deleted or expired meanwhile.`}
          </p>
        )}
      </Form>
    </Dialog>
  );
}
