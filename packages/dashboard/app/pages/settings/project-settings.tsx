import { useState } from "react";
import { callApi } from "../../api.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";
import { SlugField } from "../../parts/slug-field.tsx";
import { goTo } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";

export function ProjectSettings() {
  const { project, isOwner } = useWorkspace();
  const [isDeleting, setDeleting] = useState(false);
  return (
    <>
      <section>
        <h2>Project</h2>
        <dl>
          <dt>ID</dt>
          <dd className="mono">{project.id}</dd>
          <dt>Slug</dt>
          <dd>
            <SafeText text={project.slug} />
          </dd>
        </dl>
        <CopyButton text={project.id} label="Copy ID" />
      </section>
      {isOwner ? (
        <>
          <section>
            <h2>Name</h2>
            <RenameForm key={project.name} name={project.name} />
          </section>
          <section>
            <h2>Delete project</h2>
            <p className="dim">
              Its keys stop working immediately. Its files are served until the account that owns the project
              purges them under Account.
            </p>
            <button type="button" className="danger" onClick={() => setDeleting(true)}>
              Delete project
            </button>
          </section>
        </>
      ) : (
        <p className="dim">Only the project owner can rename or delete it.</p>
      )}
      {isDeleting && (
        <Dialog title="Delete project" onClose={() => setDeleting(false)}>
          <DeleteForm />
        </Dialog>
      )}
    </>
  );
}

function RenameForm(props: { name: string }) {
  const { project, reloadProjects } = useWorkspace();
  const [name, setName] = useState(props.name);
  const submit = async () => {
    await callApi("PATCH", `/projects/${project.id}`, { name });
    reloadProjects();
  };
  const unseen = showHidden(name) === name ? "" : ` With hidden characters: ${showHidden(name)}`;
  return (
    <Form className="stack narrow" submit="Rename" isIncomplete={name === props.name} onSubmit={submit}>
      <Field
        label="Project name"
        hint={`The slug does not change.${unseen}`}
        maxLength={100}
        value={name}
        onChange={setName}
      />
    </Form>
  );
}

function DeleteForm() {
  const { project, reloadProjects } = useWorkspace();
  const [typed, setTyped] = useState("");
  const submit = async () => {
    await callApi("DELETE", `/projects/${project.id}`);
    goTo("/", { replace: true });
    reloadProjects();
  };
  return (
    <Form submit="Delete this project" isDangerous isIncomplete={typed !== project.slug} onSubmit={submit}>
      <p>
        All API keys of <strong>{showHidden(project.name)}</strong> are revoked. This cannot be undone.
      </p>
      <SlugField slug={project.slug} value={typed} onChange={setTyped} />
    </Form>
  );
}
