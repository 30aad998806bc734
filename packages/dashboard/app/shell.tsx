import { type ReactNode, useContext, useEffect, useState } from "react";
import type { Account } from "./app.tsx";
import { NewProjectDialog } from "./pages/new-project.tsx";
import { SafeText, showHidden } from "./parts/safe-text.tsx";
import { goTo, Link, usePath } from "./router.tsx";
import { applyTheme, readTheme, themes } from "./theme.ts";
import { type ProjectItem, type Workspace, WorkspaceContext } from "./workspace.ts";

const links: [page: string, label: string][] = [
  ["overview", "Overview"],
  ["files", "Files"],
  ["studio", "Image studio"],
  ["routes", "File routes"],
  ["webhooks", "Webhooks"],
  ["logs", "Logs"],
  ["usage", "Usage"],
  ["members", "Members"],
  ["audit", "Audit log"],
  ["settings", "Settings"],
];
/** Pages that only a project's owners may see. */
const forOwners = ["audit"];

/** Outside of any project. */
const others: [page: string, label: string][] = [
  ["account", "Account"],
  ["admin", "Installation"],
  ["activity", "Account activity"],
  ["admin/audit", "Audit log"],
];

interface ShellProps {
  account: Account;
  projects: ProjectItem[];
  page: string;
  onChanged: () => void;
  children: ReactNode;
}

export function Shell(props: ShellProps) {
  const workspace = useContext(WorkspaceContext);
  const path = usePath();
  const [isOpen, setOpen] = useState(false);
  const title = [...links, ...others].find(([page]) => page === props.page)?.[1] ?? "Dashboard";

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new path closes the menu
  useEffect(() => {
    setOpen(false);
    document.title = `${title} · Upstow`;
  }, [path, title]);

  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="bar">
        <Link to="/" className="brand">
          Upstow
        </Link>
        {workspace !== null && <Switches {...props} workspace={workspace} />}
        <button
          type="button"
          className="menu"
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        >
          Menu
        </button>
      </header>
      <nav id="navigation" aria-label="Dashboard" className={isOpen ? "open" : undefined}>
        {workspace !== null && (
          <ul>
            {links
              .filter(([page]) => workspace.isOwner || !forOwners.includes(page))
              .map(([page, label]) => (
                <li key={page}>
                  <Link
                    to={`/p/${workspace.project.id}/${workspace.environment}/${page}`}
                    aria-current={page === props.page ? "page" : undefined}
                  >
                    {label}
                  </Link>
                </li>
              ))}
          </ul>
        )}
        <div className="foot">
          {props.account.ownsInstallation && (
            <Link to="/admin" aria-current={props.page === "admin" ? "page" : undefined}>
              Installation
            </Link>
          )}
          <Link
            to="/account"
            aria-current={props.page === "account" ? "page" : undefined}
            className="who"
            title={showHidden(props.account.email)}
          >
            <SafeText text={props.account.email} />
          </Link>
          <a href="/docs">Documentation</a>
          <ThemePicker />
        </div>
      </nav>
      <main id="content" tabIndex={-1}>
        {props.children}
      </main>
    </div>
  );
}

function Switches(props: ShellProps & { workspace: Workspace }) {
  const { project, environment } = props.workspace;
  const [isCreating, setCreating] = useState(false);
  const page = others.some(([name]) => name === props.page) ? "overview" : props.page;
  const choose = (id: string) => {
    if (id === "new") setCreating(true);
    else goTo(`/p/${id}/${environment}/${page}`);
  };
  return (
    <>
      <select aria-label="Project" value={project.id} onChange={(event) => choose(event.target.value)}>
        {props.projects.map(({ id, name }) => (
          <option key={id} value={id}>
            {showHidden(name)}
          </option>
        ))}
        <option value="new">New project …</option>
      </select>
      <fieldset className="switch">
        <legend className="visually-hidden">Environment</legend>
        {(["live", "test"] as const).map((name) => (
          <button
            type="button"
            key={name}
            aria-pressed={environment === name}
            data-environment={name}
            onClick={() => goTo(`/p/${project.id}/${name}/${page}`)}
          >
            {name === "live" ? "Live" : "Test"}
          </button>
        ))}
      </fieldset>
      {isCreating && <NewProjectDialog onClose={() => setCreating(false)} onCreated={props.onChanged} />}
    </>
  );
}

function ThemePicker() {
  const [theme, setTheme] = useState(readTheme);
  return (
    <label className="theme">
      <span>Theme</span>
      <select
        value={theme}
        onChange={(event) => {
          const chosen = themes.find((name) => name === event.target.value) ?? "system";
          applyTheme(chosen);
          setTheme(chosen);
        }}
      >
        {themes.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
