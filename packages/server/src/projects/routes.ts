import {
  CreatedProject,
  CreateProjectBody,
  IdParam,
  type KeyType,
  Ok,
  type Project as ProjectAnswer,
  type ProjectKey,
  ProjectListItem,
  ProjectWithSettings,
  type TierName,
  Type,
  UpdateProjectBody,
} from "@upstow/contract";
import type { Queryable } from "../db/database.ts";
import type { ProjectRow } from "../db/schema.ts";
import type { Deps } from "../deps.ts";
import { type ApiApp, withAuthor } from "../http/request-context.ts";
import type { Actor, Author } from "../kernel/actor.ts";
import { unauthorized } from "../kernel/errors.ts";
import { isoTime } from "../kernel/iso-time.ts";
import { createCountedKey } from "./api-keys/api-keys.ts";
import { createProject, deleteProject, getProject, readImageSettings, updateProject } from "./projects.ts";
import { listProjects } from "./queries.ts";

const tags = ["projects"];
const ProjectEnvelope = Type.Object({ project: ProjectWithSettings });

export function projectRoutes(app: ApiApp, deps: Deps): void {
  accountRoutes(app, deps);
  singleProjectRoutes(app, deps);
}

function accountRoutes(app: ApiApp, deps: Deps): void {
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
      const rows = await deps.db.recallAll(listProjects, { accountId });
      return { projects: rows.map(toProject) };
    },
  );

  app.post(
    "/projects",
    {
      config: { errors: ["TIER_LIMIT_EXCEEDED"] },
      onRequest: async ({ actor }) => requireLiveKey(actor, "create projects"),
      schema: {
        tags,
        summary: "Create a project, and keys for it where asked to",
        body: CreateProjectBody,
        response: { 201: CreatedProject },
      },
    },
    async ({ actor, author, body, idempotency }, reply) => {
      const owner = { accountId: actor.accountId, tier: actor.tier, author };
      const answer = await createWithKeys(deps, owner, body, (tx, masked) =>
        idempotency.remember(tx, 201, masked),
      );
      return reply.code(201).send(answer);
    },
  );
}

function singleProjectRoutes(app: ApiApp, deps: Deps): void {
  app.get(
    "/projects/:id",
    { schema: { tags, summary: "Get a project", params: IdParam, response: { 200: ProjectEnvelope } } },
    async ({ actor, params }) => ({ project: withSettings(await getProject(deps, actor, params.id)) }),
  );

  app.patch(
    "/projects/:id",
    {
      onRequest: async ({ actor }) => requireLiveKey(actor, "change projects"),
      schema: {
        tags,
        summary: "Rename a project or change its settings",
        params: IdParam,
        body: UpdateProjectBody,
        response: { 200: ProjectEnvelope },
      },
    },
    async (request) => {
      const { actor, params, body } = request;
      return {
        project: withSettings(await updateProject(withAuthor(deps, request), actor, params.id, body)),
      };
    },
  );

  app.delete(
    "/projects/:id",
    {
      onRequest: async ({ actor }) => requireLiveKey(actor, "delete projects"),
      schema: {
        tags,
        summary: "Delete a project and revoke its keys",
        params: IdParam,
        response: { 200: Ok },
      },
    },
    async (request) => {
      await deleteProject(withAuthor(deps, request), request.actor, request.params.id);
      return { ok: true };
    },
  );
}

/** Projects contain live data, which test keys may not change. */
function requireLiveKey(actor: Actor, what: string): void {
  if (actor.environment === "live") return;
  throw unauthorized(`a test key cannot ${what}`, "Send a live key.");
}

/** The wire calls a project's id "_id" and its account "userId". */
function toProject(row: ProjectRow): ProjectAnswer {
  return {
    _id: row.id,
    name: row.name,
    slug: row.slug,
    userId: row.account_id,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

const withSettings = (row: ProjectRow) => ({
  ...toProject(row),
  trashDays: row.trash_days,
  ...readImageSettings(row),
});

interface Owner {
  accountId: string;
  tier: TierName;
  author: Author;
}

/** `onSaved` gets the response without the keys' secrets. */
async function createWithKeys(
  deps: Deps,
  owner: Owner,
  { name, createKeys }: CreateProjectBody,
  onSaved: (tx: Queryable, masked: object) => Promise<void>,
) {
  return deps.db.transact(async (tx) => {
    const now = deps.now();
    const project = toProject(await createProject(tx, now, owner, name));
    if (createKeys === undefined) {
      await onSaved(tx, { project });
      return { project };
    }
    const keys = await createKeysFor(tx, now, owner, project._id, createKeys);
    await onSaved(tx, { project, keys: keys.map(({ secret: _, ...key }) => key) });
    return { project, keys };
  });
}

/** The first keys of a project, created together with it so that automation works without the dashboard. */
async function createKeysFor(
  tx: Queryable,
  now: number,
  { accountId, ...owner }: Owner,
  projectId: string,
  types: readonly KeyType[],
): Promise<ProjectKey[]> {
  const keys: ProjectKey[] = [];
  for (const type of types) {
    const wanted = { ...owner, projectId, type, name: `${type} key` };
    const { key, secret } = await createCountedKey(tx, now, accountId, wanted);
    keys.push({ id: key.id, type, prefix: key.prefix, secret });
  }
  return keys;
}
