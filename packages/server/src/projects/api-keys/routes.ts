import {
  ApiKey,
  type ApiKey as ApiKeyAnswer,
  CreatedKey,
  CreateKeyBody,
  IdParam,
  Ok,
  Type,
} from "@upstow/contract";
import type { ApiKeyRow } from "../../db/schema.ts";
import type { Deps } from "../../deps.ts";
import { type ApiApp, withAuthor } from "../../http/request-context.ts";
import { isoTime } from "../../kernel/iso-time.ts";
import { requireOwnProject } from "../projects.ts";
import { createCountedKey, revokeOwnKey, typeForNewKey } from "./api-keys.ts";
import { listActiveKeys } from "./queries.ts";

const tags = ["API keys"];

export function apiKeyRoutes(app: ApiApp, deps: Deps): void {
  app.get(
    "/projects/:id/keys",
    {
      config: { ownProject: true },
      schema: {
        tags,
        summary: "List the project's active keys of the caller's own type",
        params: IdParam,
        response: { 200: Type.Object({ keys: Type.Array(ApiKey) }) },
      },
    },
    async ({ actor, params }) => {
      requireOwnProject(actor, params.id);
      const { projectId, environment: type } = actor;
      const rows = await deps.db.all(listActiveKeys, { projectId, type });
      return { keys: rows.map(toApiKey) };
    },
  );

  app.post(
    "/projects/:id/keys",
    {
      config: { ownProject: true, errors: ["TIER_LIMIT_EXCEEDED"] },
      onRequest: async ({ actor, params }) => requireOwnProject(actor, params.id),
      schema: {
        tags,
        summary: "Create a key; the secret is shown this once",
        params: IdParam,
        body: CreateKeyBody,
        response: { 201: CreatedKey },
      },
    },
    async ({ actor, author, body, idempotency }, reply) => {
      const type = typeForNewKey(actor, body.type);
      const { projectId, accountId, tier } = actor;
      const wanted = { projectId, tier, type, name: body.name ?? `${type} key`, author };
      const created = await deps.db.transact(async (tx) => {
        const { key, secret } = await createCountedKey(tx, deps.now(), accountId, wanted);
        await idempotency.remember(tx, 201, { key: toApiKey(key) });
        return { key: toApiKey(key), secret };
      });
      return reply.code(201).send(created);
    },
  );

  app.delete(
    "/keys/:id",
    { schema: { tags, summary: "Revoke a key immediately", params: IdParam, response: { 200: Ok } } },
    async (request) => {
      await revokeOwnKey(withAuthor(deps, request), request.actor, request.params.id);
      return { ok: true };
    },
  );
}

function toApiKey(row: ApiKeyRow): ApiKeyAnswer {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    type: row.type,
    prefix: row.prefix,
    lastUsedAt: row.last_used_at === null ? null : isoTime(row.last_used_at),
    createdAt: isoTime(row.created_at),
  };
}
