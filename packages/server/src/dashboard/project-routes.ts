import { CreateProjectBody, IdParam, UpdateProjectBody } from "@upstow/contract";
import type { ProjectRow } from "../db/schema.ts";
import type { Deps } from "../deps.ts";
import { purgeProject } from "../files/purge-project.ts";
import { type ApiApp, withAuthor } from "../http/request-context.ts";
import { notFound } from "../kernel/errors.ts";
import { findSafeOrigin } from "../projects/customer-storage/rules.ts";
import { createProject, deleteProject, updateProject } from "../projects/projects.ts";
import { enterProject, type Role, roleOf } from "./access.ts";
import {
  findPaidProject,
  listAccessibleProjects,
  listAccessibleStores,
  listDeletedProjects,
  mostCounted,
} from "./queries.ts";
import type { Session } from "./sessions.ts";

const schema = { hide: true };

export function ownProjectRoutes(app: ApiApp, deps: Deps): void {
  const enterAsOwner = (session: Session, projectId: string) =>
    enterProject(deps, session, { projectId, environment: "live" }, "owner");

  app.get("/projects", { schema }, async ({ session }) => {
    const rows = await deps.db.all(listAccessibleProjects, { accountId: session.accountId });
    return {
      storageOrigins: await findStorageOrigins(deps, session.accountId),
      projects: rows.map((row) => ({
        id: row.id,
        name: row.name,
        slug: row.slug,
        role: roleOf(session, row),
        trashDays: row.trashDays,
        createdAt: new Date(row.createdAt).toISOString(),
      })),
    };
  });

  app.post("/projects", { schema: { ...schema, body: CreateProjectBody } }, async (request, reply) => {
    const { session, author, body } = request;
    const owner = { accountId: session.accountId, tier: session.tier, author };
    const project = await deps.db.transact((tx) => createProject(tx, deps.now(), owner, body.name));
    return reply.code(201).send({ project: toProject(project, "owner") });
  });

  app.patch(
    "/projects/:id",
    { schema: { ...schema, params: IdParam, body: UpdateProjectBody } },
    async (request) => {
      const { session, params, body } = request;
      const actor = await enterAsOwner(session, params.id);
      return {
        project: toProject(await updateProject(withAuthor(deps, request), actor, params.id, body), "owner"),
      };
    },
  );

  app.delete("/projects/:id", { schema: { ...schema, params: IdParam } }, async (request) => {
    const { session, params } = request;
    const actor = await enterAsOwner(session, params.id);
    await deleteProject(withAuthor(deps, request), actor, params.id);
    return { ok: true };
  });
}

function toProject(row: ProjectRow, role: Role) {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    role,
    trashDays: row.trash_days,
    createdAt: new Date(row.created_at).toISOString(),
  };
}

/** For the account that pays for a deleted project's remaining files; to everyone else the project is gone. */
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
  app.post("/projects/:id/purge", { schema: { ...schema, params: IdParam } }, async (request) => {
    const { session, params } = request;
    const project = await deps.db.get(findPaidProject, { id: params.id, accountId: session.accountId });
    if (project === null) throw notFound("Project");
    return purgeProject(withAuthor(deps, request), project.id, stop.signal);
  });
}

const anyUpload = { key: "a", contentType: "text/plain", sizeBytes: 1, expiresInSec: 1 };

/** The origins to which browsers upload files of the account's projects with buckets. */
export async function findStorageOrigins(
  { db, stores, log }: Pick<Deps, "db" | "stores" | "log">,
  accountId: string,
): Promise<string[]> {
  const rows = await db.all(listAccessibleStores, { accountId });
  const origins = rows.map(async ({ id }) => {
    try {
      // Rows may predate the endpoint check.
      return findSafeOrigin(await (await stores.get(id)).presignPut(anyUpload));
    } catch (error) {
      // Such as credentials that no current secret can decrypt. The pages still work without that bucket.
      log.warn({ err: error, store: id }, "the URL of a bucket could not be determined");
      return null;
    }
  });
  const found = (await Promise.all(origins)).filter((origin) => origin !== null);
  return [...new Set(found)].toSorted();
}

export function originOf(address: string): string {
  return new URL(address).origin;
}
