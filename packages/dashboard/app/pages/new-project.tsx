import { type FormEvent, useState } from "react";
import { callApi } from "../api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Empty, Failure } from "../parts/states.tsx";
import { useAction } from "../parts/use-action.ts";
import { goTo } from "../router.tsx";
import type { ProjectItem } from "../workspace.ts";

export function NewProject({ onCreated }: { onCreated: () => void }) {
  return (
    <Empty title="You have no project yet">
      <ProjectForm onCreated={onCreated} />
    </Empty>
  );
}

export function NewProjectDialog({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const finish = () => {
    onCreated();
    onClose();
  };
  return (
    <Dialog title="New project" onClose={onClose}>
      <ProjectForm onCreated={finish} />
    </Dialog>
  );
}

function ProjectForm({ onCreated }: { onCreated: () => void }) {
  const [name, setName] = useState("");
  const { error, isBusy, run } = useAction();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(async () => {
      const { project } = await callApi<{ project: ProjectItem }>("POST", "/projects", { name });
      onCreated();
      goTo(`/p/${project.id}/live/overview`);
    });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <label>
        Name
        <input required maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      {error !== null && <Failure error={error} />}
      <button type="submit" className="primary" disabled={isBusy}>
        Create
      </button>
    </form>
  );
}
