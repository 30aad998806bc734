import { TRASH_MAX_DAYS } from "@upstow/contract";
import { useState } from "react";
import { callApi } from "../../api.ts";
import { formatMany } from "../../format.ts";
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
          <dt>Trash</dt>
          <dd>{project.trashDays === 0 ? "Off" : formatMany(project.trashDays, "day")}</dd>
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
            <h2>Trash</h2>
            <TrashForm />
          </section>
          <section>
            <h2>Delete project</h2>
            <p className="dim">
              Its keys stop working immediately. Its files stay online until the owner purges them on the
              Account page.
            </p>
            <button type="button" className="danger" onClick={() => setDeleting(true)}>
              Delete project
            </button>
          </section>
        </>
      ) : (
        <p className="dim more-space">
          Only the owner can rename or delete this project or change its trash period.
        </p>
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

function TrashForm() {
  const { project, reloadProjects } = useWorkspace();
  const [days, setDays] = useState(String(project.trashDays));
  const [status, setStatus] = useState("");
  const submit = async () => {
    await callApi("PATCH", `/projects/${project.id}`, { trashDays: Number(days) });
    setStatus("Saved");
    reloadProjects();
  };
  return (
    <Form
      className="stack narrow"
      submit="Save"
      status={status}
      isIncomplete={days === String(project.trashDays)}
      onSubmit={submit}
    >
      <Field
        label="Days to keep deleted files"
        hint={`0 to ${TRASH_MAX_DAYS}. With 0, deleted files are removed permanently at once. Files already in the trash keep their original period.`}
        type="number"
        min={0}
        max={TRASH_MAX_DAYS}
        value={days}
        onChange={(next) => {
          setDays(next);
          setStatus("");
        }}
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
