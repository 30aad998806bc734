import { Icon } from "@upstow/kit/icon";
import {
  activityIcon,
  bookOpenIcon,
  chartColumnIcon,
  clipboardListIcon,
  filesIcon,
  layoutDashboardIcon,
  menuIcon,
  monitorIcon,
  moonIcon,
  routeIcon,
  serverIcon,
  settingsIcon,
  sunIcon,
  usersIcon,
  wandSparklesIcon,
  webhookIcon,
} from "@upstow/kit/icons";
import { type ReactNode, useContext, useEffect, useState } from "react";
import { accountPages, addressOf } from "./address.ts";
import type { Account } from "./app.tsx";
import { NewProjectDialog } from "./pages/projects.tsx";
import { SafeText, showHidden } from "./parts/safe-text.tsx";
import { Loading } from "./parts/states.tsx";
import { goTo, Link } from "./router.tsx";
import { applyTheme, readTheme, type Theme, themes } from "./theme.ts";
import { type ProjectItem, type Workspace, WorkspaceContext } from "./workspace.ts";

export interface PageLink {
  page: string;
  label: string;
  icon: string;
  forOwners?: boolean;
}

/** Groups of the navigation, and of the command palette. */
export const pageLinks: PageLink[][] = [
  [
    { page: "overview", label: "Overview", icon: layoutDashboardIcon },
    { page: "files", label: "Files", icon: filesIcon },
    { page: "studio", label: "Image studio", icon: wandSparklesIcon },
  ],
  [
    { page: "routes", label: "File routes", icon: routeIcon },
    { page: "webhooks", label: "Webhooks", icon: webhookIcon },
    { page: "logs", label: "Logs", icon: activityIcon },
  ],
  [
    { page: "usage", label: "Usage", icon: chartColumnIcon },
    { page: "members", label: "Members", icon: usersIcon },
    { page: "audit", label: "Audit log", icon: clipboardListIcon, forOwners: true },
    { page: "settings", label: "Settings", icon: settingsIcon },
  ],
];

const titles: Record<string, string> = {
  ...Object.fromEntries(pageLinks.flat().map(({ page, label }) => [page, label])),
  "": "Projects",
  trash: "Trash",
  account: "Account",
  admin: "Installation",
  activity: "Account activity",
  "admin/audit": "Installation audit log",
};

interface ShellProps {
  account: Account;
  projects: ProjectItem[];
  page: string;
  palette: ReactNode;
  onChanged: () => void;
  children: ReactNode;
}

export function Shell(props: ShellProps) {
  const workspace = useContext(WorkspaceContext);
  const [isOpen, setOpen] = useState(false);
  const title = titles[props.page] ?? "Page not found";
  useEffect(() => {
    document.title = `${title} · Upstow`;
  }, [title]);
  return (
    <div className="shell" data-environment={workspace?.environment}>
      <a className="skip" href="#content">
        Skip to content
      </a>
      <header className="bar">
        <button
          type="button"
          className="menu quiet square"
          aria-expanded={isOpen}
          aria-controls="navigation"
          aria-label="Menu"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon of={menuIcon} />
        </button>
        <Switches {...props} workspace={workspace} />
        {props.palette}
      </header>
      <Navigation {...props} workspace={workspace} isOpen={isOpen} onFollow={() => setOpen(false)} />
      <main id="content" tabIndex={-1}>
        {props.children}
      </main>
    </div>
  );
}

interface NavigationProps {
  account: Account;
  page: string;
  workspace: Workspace | null;
  isOpen: boolean;
  onFollow: () => void;
}

function Navigation({ account, page, workspace, isOpen, onFollow }: NavigationProps) {
  const toAccountPage = (name: string) => workspace?.urlOf(name) ?? `/${name}`;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click
    <nav
      id="navigation"
      aria-label="Dashboard"
      className={isOpen ? "open" : undefined}
      onClick={({ target }) => target instanceof Element && target.closest("a") !== null && onFollow()}
    >
      <Link to={workspace?.urlOf("overview") ?? "/"} className="brand">
        <img src="/assets/icon.svg" alt="" width="24" height="24" /> Upstow
      </Link>
      <div className="pages">
        {workspace !== null &&
          pageLinks.map((group) => (
            <ul key={group[0]?.page}>
              {group
                .filter(({ forOwners }) => workspace.isOwner || forOwners !== true)
                .map((link) => (
                  <li key={link.page}>
                    <NavLink
                      {...link}
                      to={workspace.urlOf(link.page)}
                      isCurrent={link.page === (page === "trash" ? "files" : page)}
                    />
                  </li>
                ))}
            </ul>
          ))}
      </div>
      <div className="foot">
        {account.ownsInstallation && (
          <NavLink
            label="Installation"
            icon={serverIcon}
            to={toAccountPage("admin")}
            isCurrent={page.startsWith("admin")}
          />
        )}
        <a href="/docs">
          <Icon of={bookOpenIcon} /> Documentation
        </a>
        <ThemePicker />
        <Link
          to={toAccountPage("account")}
          aria-current={page === "account" ? "page" : undefined}
          className="who"
          title={showHidden(account.email)}
        >
          <span className="initial" aria-hidden="true">
            {account.email.slice(0, 1).toUpperCase()}
          </span>
          <span className="cut">
            <SafeText text={account.email} />
          </span>
        </Link>
      </div>
    </nav>
  );
}

function NavLink(props: { to: string; label: string; icon: string; isCurrent: boolean }) {
  return (
    <Link to={props.to} aria-current={props.isCurrent ? "page" : undefined}>
      <Icon of={props.icon} /> {props.label}
    </Link>
  );
}

function Switches(props: ShellProps & { workspace: Workspace | null }) {
  const { project, environment } = props.workspace ?? { project: null, environment: "live" };
  const [isCreating, setCreating] = useState(false);
  const page = accountPages.includes(props.page) || props.page === "" ? "overview" : props.page;
  const choose = (id: string) => {
    if (id === "new") setCreating(true);
    else if (id !== "") goTo(addressOf(id, environment, page));
  };
  return (
    <>
      <select aria-label="Project" value={project?.id ?? ""} onChange={(event) => choose(event.target.value)}>
        {project === null && <option value="">Select a project</option>}
        {props.projects.map(({ id, name }) => (
          <option key={id} value={id}>
            {showHidden(name)}
          </option>
        ))}
        <option value="new">New project…</option>
      </select>
      {project !== null && (
        <fieldset className="switch">
          <legend className="visually-hidden">Environment</legend>
          {(["live", "test"] as const).map((name) => (
            <button
              type="button"
              key={name}
              aria-pressed={environment === name}
              data-environment={name}
              onClick={() => goTo(addressOf(project.id, name, page))}
            >
              {name === "live" ? "Live" : "Test"}
            </button>
          ))}
        </fieldset>
      )}
      {isCreating && <NewProjectDialog onClose={() => setCreating(false)} onCreated={props.onChanged} />}
    </>
  );
}

const themeLooks: Record<Theme, { label: string; icon: string }> = {
  system: { label: "System theme", icon: monitorIcon },
  light: { label: "Light theme", icon: sunIcon },
  dark: { label: "Dark theme", icon: moonIcon },
};

function ThemePicker() {
  const [theme, setTheme] = useState(readTheme);
  return (
    <fieldset className="switch themes">
      <legend className="visually-hidden">Theme</legend>
      {themes.map((name) => (
        <button
          type="button"
          key={name}
          aria-pressed={theme === name}
          aria-label={themeLooks[name].label}
          title={themeLooks[name].label}
          onClick={() => {
            applyTheme(name);
            setTheme(name);
          }}
        >
          <Icon of={themeLooks[name].icon} />
        </button>
      ))}
    </fieldset>
  );
}

/** The frame without its content, so that nothing moves when the account and its projects arrive. */
export function ShellSkeleton() {
  return (
    <div className="shell">
      <div className="bar" />
      <nav className="skeleton">
        <span className="brand">
          <img src="/assets/icon.svg" alt="" width="24" height="24" /> Upstow
        </span>
        <div className="loading" aria-hidden="true">
          <i />
          <i />
          <i />
        </div>
      </nav>
      <main>
        <Loading />
      </main>
    </div>
  );
}
