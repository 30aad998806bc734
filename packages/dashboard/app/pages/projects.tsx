import { useState } from "react";
import { addressOf } from "../address.ts";
import { callApi } from "../api.ts";
import type { Account } from "../app.tsx";
import { formatAgo } from "../format.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/fields.tsx";
import { Form } from "../parts/form.tsx";
import { SafeText, showHidden } from "../parts/safe-text.tsx";
import { Empty } from "../parts/states.tsx";
import { goTo, Link } from "../router.tsx";
import type { ProjectItem } from "../workspace.ts";
import { roleLabels } from "./members/roles.tsx";

interface ProjectsProps {
  account: Account;
  projects: ProjectItem[];
  onCreated: () => void;
}

/** Shown until a project is selected: no page selects one by itself. */
export function Projects({ account, projects, onCreated }: ProjectsProps) {
  return (
    <>
      <h1>Projects</h1>
      {projects.length === 0 ? (
        <Empty title="You have no projects yet">
          {account.mayOwnProjects ? (
            <ProjectForm onCreated={onCreated} />
          ) : (
            <p>
              Your account was created by an invitation. It can own projects once the operator sets its tier.
            </p>
          )}
        </Empty>
      ) : (
        <ul className="rows" aria-label="Projects">
          {projects.map((project) => (
            <ProjectRow key={project.id} project={project} />
          ))}
        </ul>
      )}
    </>
  );
}

function ProjectRow({ project: { id, name, role, createdAt } }: { project: ProjectItem }) {
  return (
    <li>
      <span className="grow">
        <strong className="name">
          <Link to={addressOf(id, "live", "overview")}>
            <SafeText text={name} />
          </Link>
        </strong>
        <span className="dim">Created {formatAgo(createdAt)}</span>
      </span>
      <span className="tag">{roleLabels[role]}</span>
      {(["live", "test"] as const).map((environment) => (
        <Link key={environment} className="button" to={addressOf(id, environment, "files")}>
          {environment === "live" ? "Live files" : "Test files"}
          <span className="visually-hidden"> of {showHidden(name)}</span>
        </Link>
      ))}
    </li>
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
    goTo(addressOf(project.id, "live", "overview"));
  };
  return (
    <Form submit="Create project" onSubmit={submit}>
      <Field label="Name" maxLength={100} value={name} onChange={setName} />
    </Form>
  );
}
