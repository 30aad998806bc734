import { useState } from "react";
import { callApi } from "../../api.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Form } from "../../parts/form.tsx";
import { SafeText } from "../../parts/safe-text.tsx";
import { SlugField } from "../../parts/slug-field.tsx";
import type { DeletedProject, Purge } from "./deleted-project.ts";
import { PurgeProgress } from "./purge-progress.tsx";

interface PurgeProjectProps {
  project: DeletedProject;
  onPurged: (purge: Purge) => void;
  /** Purged or not: what is left may have changed. */
  onEnded: () => void;
  onClose: () => void;
}

/** The server continues when this is closed or the page is left. */
export function PurgeProject({ project, onPurged, onEnded, onClose }: PurgeProjectProps) {
  const [typed, setTyped] = useState("");
  const [isPurging, setPurging] = useState(false);
  const submit = async () => {
    setPurging(true);
    try {
      onPurged(await callApi<Purge>("POST", `/projects/${project.id}/purge`));
      onClose();
    } finally {
      setPurging(false);
      onEnded();
    }
  };
  return (
    <Dialog title="Purge project" onClose={onClose}>
      <Form
        submit="Purge project"
        busy="Purging…"
        isDangerous
        isIncomplete={typed !== project.slug}
        onSubmit={submit}
      >
        <p>
          This permanently deletes what remains of{" "}
          <strong>
            <SafeText text={project.name} />
          </strong>
          : its files, whose URLs stop working immediately, and its events. This cannot be undone.
        </p>
        <SlugField slug={project.slug} value={typed} onChange={setTyped} />
        {isPurging && <PurgeProgress project={project} />}
      </Form>
    </Dialog>
  );
}
