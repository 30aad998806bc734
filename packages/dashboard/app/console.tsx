import { QueryClientProvider } from "@tanstack/react-query";
import { type ComponentType, lazy, Suspense, useContext, useEffect, useMemo, useState } from "react";
import { accountPages, readAddress, recallAddress, rememberWorkspace } from "./address.ts";
import type { Account } from "./app.tsx";
import { createQueries, useLoad } from "./load.ts";
import { Projects } from "./pages/projects.tsx";
import { Palette } from "./palette.tsx";
import { Boundary, Broken } from "./parts/boundary.tsx";
import { Empty, Failure, Loading } from "./parts/states.tsx";
import { goTo, Link, usePath } from "./router.tsx";
import { Shell, ShellSkeleton } from "./shell.tsx";
import { renewPolicyFor } from "./storage-policy.ts";
import { useProject } from "./use-project.ts";
import { createWorkspace, type ProjectItem, WorkspaceContext } from "./workspace.ts";

const audit = (name: "ProjectAudit" | "AccountAudit" | "InstallationAudit") =>
  lazy(async () => ({ default: (await import("./pages/audit/audit.tsx"))[name] }));

const pages: Record<string, ComponentType> = {
  __proto__: null as never,
  overview: lazy(() => import("./pages/overview/overview.tsx")),
  files: lazy(() => import("./pages/files/files.tsx")),
  studio: lazy(() => import("./pages/studio/studio.tsx")),
  routes: lazy(() => import("./pages/routes/file-routes.tsx")),
  webhooks: lazy(() => import("./pages/webhooks/webhooks.tsx")),
  logs: lazy(() => import("./pages/logs/logs.tsx")),
  usage: lazy(() => import("./pages/usage/usage.tsx")),
  audit: audit("ProjectAudit"),
  trash: lazy(() => import("./pages/trash/trash.tsx")),
  members: lazy(() => import("./pages/members/members.tsx")),
  settings: lazy(() => import("./pages/settings/settings.tsx")),
};
/** Those of accountPages. */
const others: Record<string, ComponentType> = {
  account: lazy(() => import("./pages/account/account.tsx")),
  admin: lazy(() => import("./pages/admin/admin.tsx")),
  activity: audit("AccountAudit"),
  "admin/audit": audit("InstallationAudit"),
};

export function Console(props: { account: Account }) {
  const [queries] = useState(createQueries);
  return (
    <QueryClientProvider client={queries}>
      <Workspaces {...props} />
    </QueryClientProvider>
  );
}

function Workspaces({ account }: { account: Account }) {
  const path = usePath();
  const projects = useLoad<{ projects: ProjectItem[]; storageOrigins: string[] }>("/projects");
  const { projectId, environment, page } = useMemo(() => readAddress(path), [path]);
  const all = projects.data?.projects;
  const { project, isLooking } = useProject(projectId, projects);
  const workspace = useMemo(
    () => (project === undefined ? null : createWorkspace(project, environment, projects.reload)),
    [project, environment, projects.reload],
  );

  const target = findTarget(path, all ?? []);
  useEffect(() => {
    if (target !== null) goTo(target + location.search, { replace: true });
    else if (project !== undefined) rememberWorkspace(project.id, environment);
  }, [target, project, environment]);

  const storageOrigins = projects.data?.storageOrigins;
  useEffect(() => {
    if (storageOrigins !== undefined) renewPolicyFor(storageOrigins);
  }, [storageOrigins]);
  // Such as a bucket that another member has set since this page was opened.
  useEffect(() => {
    document.addEventListener("securitypolicyviolation", projects.reload);
    return () => document.removeEventListener("securitypolicyviolation", projects.reload);
  }, [projects.reload]);

  const failure = projects.error !== null && <Failure error={projects.error} retry={projects.reload} />;
  if (all === undefined || isLooking || target !== null) return failure || <ShellSkeleton />;
  const [first = ""] = page.split("/");
  const isOutside = Object.hasOwn(others, page);
  const Page = (isOutside ? others[page] : pages[first]) ?? UnknownPage;
  return (
    <WorkspaceContext value={workspace}>
      <Shell
        account={account}
        projects={all}
        page={isOutside ? page : first}
        palette={<Palette projects={all} />}
        onChanged={projects.reload}
      >
        {failure}
        <Boundary key={isOutside ? page : `${workspace?.api}/${first}`} fallback={<Broken />}>
          <Suspense fallback={<Loading />}>
            {page === "" || (all.length === 0 && !isOutside) ? (
              <Projects account={account} projects={all} onCreated={projects.reload} />
            ) : workspace === null && !isOutside ? (
              <NoSuchPage reason="Check the URL. You may not be a member of this project." to="/" />
            ) : (
              <Page />
            )}
          </Suspense>
        </Boundary>
      </Shell>
    </WorkspaceContext>
  );
}

function UnknownPage() {
  const workspace = useContext(WorkspaceContext);
  return <NoSuchPage reason="Check the URL." to={workspace?.urlOf("overview") ?? "/"} />;
}

function NoSuchPage({ reason, to }: { reason: string; to: string }) {
  return (
    <>
      <h1>Page not found</h1>
      <Empty title="There is nothing at this URL">
        <p>
          {reason} <Link to={to}>Go to the overview</Link>
        </p>
      </Empty>
    </>
  );
}

/** The target of an older URL, or one without a project; null if it is the URL of a page. */
function findTarget(path: string, projects: ProjectItem[]): string | null {
  if (path.startsWith("/p/")) return path.slice(2);
  const page = path.slice(1);
  return page === "" || accountPages.includes(page) ? recallAddress(page, projects) : null;
}
