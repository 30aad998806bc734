import {
  CreateProjectBody,
  IdParam,
  Ok,
  Project,
  type Project as ProjectAnswer,
  ProjectListItem,
  Type,
  UpdateProjectBody,
} from "@upstow/contract";
import type { ProjectTable } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { unauthorized } from "../../errors.ts";
import type { ApiApp } from "../../http/api-app.ts";
import { isoTime } from "../../iso-time.ts";
import { createProject, deleteProject, getProject, updateProject } from "./projects.ts";
import { listProjects } from "./queries.ts";
import { requireAccountReach, requireInReach } from "./reach.ts";

const tags = ["projects"];
const ProjectEnvelope = Type.Object({ project: Project });

export function projectRoutes(app: ApiApp, deps: Deps): void {
  app.get(
    "/projects",
    {
      schema: {
        tags,
        summary: "List the account's projects",
        response: { 200: Type.Object({ projects: Type.Array(ProjectListItem) }) },
      },
    },
    async ({ actor }) => {
      const { accountId } = actor;
      const rows = await deps.db.recallAll(listProjects, accountId, () => ({ accountId }));
      const inReach = actor.reach === "account" ? rows : rows.filter((row) => row.id === actor.projectId);
      return { projects: inReach.map(toProject) };
    },
  );

  app.post(
    "/projects",
    {
      schema: {
        tags,
        summary: "Create a project",
        body: CreateProjectBody,
        response: { 201: ProjectEnvelope },
      },
    },
    async ({ actor, body, idempotency }, reply) => {
      requireAccountReach(actor);
      const answer = await deps.db.transact(async (tx) => {
        const project = { project: toProject(await createProject(tx, deps.now(), actor, body.name)) };
        await idempotency.remember(tx, 201, project);
        return project;
      });
      return reply.code(201).send(answer);
    },
  );

  app.get(
    "/projects/:id",
    { schema: { tags, summary: "Get a project", params: IdParam, response: { 200: ProjectEnvelope } } },
    async ({ actor, params }) => {
      requireInReach(actor, params.id);
      return { project: toProject(await getProject(deps, actor, params.id)) };
    },
  );

  app.patch(
    "/projects/:id",
    {
      schema: {
        tags,
        summary: "Rename a project",
        params: IdParam,
        body: UpdateProjectBody,
        response: { 200: ProjectEnvelope },
      },
    },
    async ({ actor, params, body }) => {
      requireInReach(actor, params.id);
      requireAccountReach(actor);
      return { project: toProject(await updateProject(deps, actor, params.id, body.name)) };
    },
  );

  app.delete(
    "/projects/:id",
    {
      schema: {
        tags,
        summary: "Delete a project and revoke its keys",
        params: IdParam,
        response: { 200: Ok },
      },
    },
    async ({ actor, params }) => {
      // It would revoke live keys, which no test key may.
      if (actor.environment === "test") throw unauthorized("A test key deletes no project. Send a live key.");
      requireInReach(actor, params.id);
      requireAccountReach(actor);
      await deleteProject(deps, actor, params.id);
      return { ok: true };
    },
  );
}

/** The wire calls a project's id "_id" and its account "userId". */
function toProject(row: ProjectTable): ProjectAnswer {
  return {
    _id: row.id,
    name: row.name,
    slug: row.slug,
    userId: row.account_id,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}
