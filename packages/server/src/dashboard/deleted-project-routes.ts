import { IdParam } from "@upstow/contract";
import type { Deps } from "../deps.ts";
import { purgeProject } from "../files/purge-project.ts";
import type { ApiApp } from "../http/api-app.ts";
import { notFound } from "../kernel/errors.ts";
import { findPaidProject, listDeletedProjects, mostCounted } from "./deleted-project-queries.ts";

const schema = { hide: true };

/** For the account that pays for what a deleted project left behind; to everybody else the project is gone. */
export function deletedProjectRoutes(app: ApiApp, deps: Deps): void {
  app.get("/projects/deleted", { schema }, async ({ session }) => {
    const rows = await deps.db.all(listDeletedProjects, { accountId: session.accountId });
    return {
      projects: rows.map((row) => ({
        ...row,
        deletedAt: new Date(row.deletedAt).toISOString(),
        files: Math.min(row.files, mostCounted),
        hasMoreFiles: row.files > mostCounted,
      })),
    };
  });

  const stop = new AbortController();
  app.addHook("preClose", async () => stop.abort());
  app.post("/projects/:id/purge", { schema: { ...schema, params: IdParam } }, async ({ session, params }) => {
    const project = await deps.db.get(findPaidProject, { id: params.id, accountId: session.accountId });
    if (project === null) throw notFound("Project");
    return purgeProject(deps, project.id, stop.signal);
  });
}
