import type { Environment } from "@upstow/contract";
import { type ComponentType, lazy, Suspense, useEffect, useMemo } from "react";
import type { Account } from "./app.tsx";
import { useLoad } from "./load.ts";
import { NewProject } from "./pages/new-project.tsx";
import { Boundary, Broken } from "./parts/boundary.tsx";
import { Empty, Failure, Loading } from "./parts/states.tsx";
import { Link, usePath } from "./router.tsx";
import { Shell } from "./shell.tsx";
import { renewPolicyFor } from "./storage-policy.ts";
import { useProject } from "./use-project.ts";
import { createWorkspace, type ProjectItem, WorkspaceContext } from "./workspace.ts";

const audit = (name: "ProjectAudit" | "AccountAudit" | "InstallationAudit") =>
  lazy(async () => ({ default: (await import("./pages/audit/audit.tsx"))[name] }));

const pages: Record<string, ComponentType> = {
  overview: lazy(() => import("./pages/overview/overview.tsx")),
  files: lazy(() => import("./pages/files/files.tsx")),
  studio: lazy(() => import("./pages/studio/studio.tsx")),
  routes: lazy(() => import("./pages/routes/file-routes.tsx")),
  webhooks: lazy(() => import("./pages/webhooks/webhooks.tsx")),
  logs: lazy(() => import("./pages/logs/logs.tsx")),
  usage: lazy(() => import("./pages/usage/usage.tsx")),
  audit: audit("ProjectAudit"),
  members: lazy(() => import("./pages/members/members.tsx")),
  settings: lazy(() => import("./pages/settings/settings.tsx")),
};
const environments: Environment[] = ["live", "test"];
/** Pages outside of any project. */
const others: Record<string, ComponentType> = {
  account: lazy(() => import("./pages/account/account.tsx")),
  admin: lazy(() => import("./pages/admin/admin.tsx")),
  activity: audit("AccountAudit"),
  "admin/audit": audit("InstallationAudit"),
};

/** Addresses are /p/<project>/<environment>/<page>, so that each can be kept and shared. */
export function Console({ account }: { account: Account }) {
  const path = usePath();
  const projects = useLoad<{ projects: ProjectItem[]; storageOrigins: string[] }>("/projects");
  const [, , projectId, environmentName, pageName = "overview"] = path.split("/");
  const all = projects.data?.projects;
  const { project, isLooking } = useProject(projectId, projects);
  const environment = environments.find((name) => name === environmentName) ?? "live";
  const workspace = useMemo(
    () => (project === undefined ? null : createWorkspace(project, environment, projects.reload)),
    [project, environment, projects.reload],
  );

  const storageOrigins = projects.data?.storageOrigins;
  useEffect(() => {
    if (storageOrigins !== undefined) renewPolicyFor(storageOrigins);
  }, [storageOrigins]);
  // Such as a bucket that somebody else has set since this page was opened.
  useEffect(() => {
    document.addEventListener("securitypolicyviolation", projects.reload);
    return () => document.removeEventListener("securitypolicyviolation", projects.reload);
  }, [projects.reload]);

  const failure = projects.error !== null && <Failure error={projects.error} retry={projects.reload} />;
  if (all === undefined || isLooking) return failure || <Loading />;
  const other = Object.keys(others).find((name) => path === `/${name}`);
  const Other = other === undefined ? undefined : others[other];
  const Page = pages[pageName];
  return (
    <WorkspaceContext value={workspace}>
      <Shell account={account} projects={all} page={other ?? pageName} onChanged={projects.reload}>
        {failure}
        <Boundary key={other ?? `${workspace?.api}/${pageName}`} fallback={<Broken />}>
          <Suspense fallback={<Loading />}>
            {Other !== undefined ? (
              <Other />
            ) : all.length === 0 ? (
              <NewProject account={account} onCreated={projects.reload} />
            ) : workspace === null ? (
              <NoSuchPage reason="Perhaps it was cut off, or you have no part in the project." to="/" />
            ) : Page === undefined ? (
              <NoSuchPage
                reason="Perhaps it was cut off."
                to={`/p/${workspace.project.id}/${workspace.environment}/overview`}
              />
            ) : (
              <Page />
            )}
          </Suspense>
        </Boundary>
      </Shell>
    </WorkspaceContext>
  );
}

function NoSuchPage({ reason, to }: { reason: string; to: string }) {
  return (
    <>
      <h1>There is no such page</h1>
      <Empty title="The address leads nowhere">
        <p>
          {reason} <Link to={to}>Go to the overview</Link>
        </p>
      </Empty>
    </>
  );
}
