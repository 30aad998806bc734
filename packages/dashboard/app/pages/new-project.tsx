import { useState } from "react";
import { callApi } from "../api.ts";
import type { Account } from "../app.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/fields.tsx";
import { Form } from "../parts/form.tsx";
import { Empty } from "../parts/states.tsx";
import { goTo } from "../router.tsx";
import type { ProjectItem } from "../workspace.ts";

export function NewProject({ account, onCreated }: { account: Account; onCreated: () => void }) {
  return (
    <>
      <h1>Projects</h1>
      <Empty title="You have no project yet">
        {account.mayOwnProjects ? (
          <ProjectForm onCreated={onCreated} />
        ) : (
          <p>
            Your account was created by an invitation. It can own projects once the operator sets its tier.
          </p>
        )}
      </Empty>
    </>
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
  const submit = async () => {
    const { project } = await callApi<{ project: ProjectItem }>("POST", "/projects", { name });
    onCreated();
    goTo(`/p/${project.id}/live/overview`);
  };
  return (
    <Form submit="Create" onSubmit={submit}>
      <Field label="Name" maxLength={100} value={name} onChange={setName} />
    </Form>
  );
}
